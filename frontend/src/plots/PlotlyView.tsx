/** Draws a figure with plotly; loaded only through Plot. */

import type { Config, PlotlyHTMLElement } from "plotly.js";
import { useEffect, useEffectEvent, useRef } from "react";
import type { Figure } from "./figure";
import Plotly from "./plotly";

export interface PlotProps {
  readonly figure: Figure;
  /** What the figure shows, for those who do not see it. */
  readonly label: string;
  /** The zoom is kept as long as this stays the same. */
  readonly viewKey: string;
  readonly height?: number;
  readonly onPointClick?: (trace: number, point: number) => void;
}

const CONFIG: Partial<Config> = {
  displaylogo: false,
  plotlyServerURL: "",
  showSendToCloud: false,
  modeBarButtonsToRemove: ["select2d", "lasso2d", "autoScale2d"],
  toImageButtonOptions: { format: "svg", filename: "iotide" },
};

export default function PlotlyView({ figure, viewKey, height = 380, onPointClick }: PlotProps) {
  const box = useRef<HTMLDivElement>(null);
  const clicked = useEffectEvent((trace: number, point: number) => onPointClick?.(trace, point));

  useEffect(() => {
    const element = box.current;
    if (!element) return;
    // The same uirevision keeps the reader's zoom when the data is refreshed.
    void Plotly.react(element, figure.data, { ...figure.layout, height, uirevision: viewKey }, CONFIG);
  }, [figure, height, viewKey]);

  useEffect(() => {
    const element = box.current as PlotlyHTMLElement | null;
    if (!element) return;
    element.on("plotly_click", ({ points }) => {
      const [point] = points;
      if (point) clicked(point.curveNumber, point.pointNumber);
    });
    const observer = new ResizeObserver(() => Plotly.Plots.resize(element));
    observer.observe(element);
    return () => {
      observer.disconnect();
      Plotly.purge(element);
    };
  }, []);

  return <div ref={box} style={{ width: "100%", minHeight: height }} />;
}
