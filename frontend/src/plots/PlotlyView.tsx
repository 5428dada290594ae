/** Draws a figure with plotly; loaded only through Plot. */

import type { Config, PlotlyHTMLElement, PlotRelayoutEvent } from "plotly.js";
import { type RefObject, useEffect, useEffectEvent, useRef } from "react";
import type { Figure } from "./figure";
import { harmless } from "./harmless";
import Plotly from "./plotly";

export interface PlotProps {
  readonly figure: Figure;
  /** What the figure shows, for those who do not see it. */
  readonly label: string;
  /** The zoom is kept as long as this stays the same. */
  readonly viewKey: string;
  readonly height?: number;
  readonly onPointClick?: (trace: number, point: number) => void;
  /** Both coordinates of the field of a map or surface, as its trace has them. */
  readonly onFieldClick?: (x: string | number, y: string | number) => void;
  /** The mark under the pointer; null when it leaves. */
  readonly onPointHover?: (mark: Mark | null) => void;
  /** The reader chose a span of time, on the reader's clock; null: all of it. */
  readonly onZoom?: (span: readonly [string, string] | null) => void;
}

export interface Mark {
  readonly trace: number;
  readonly point: number;
}

const CONFIG: Partial<Config> = {
  doubleClick: "autosize",
  displaylogo: false,
  plotlyServerURL: "",
  showSendToCloud: false,
  modeBarButtonsToRemove: ["select2d", "lasso2d", "autoScale2d", "toImage"],
};

export default function PlotlyView({ figure, viewKey, height = 380, ...hears }: PlotProps) {
  const box = useRef<HTMLDivElement>(null);

  useEffect(() => {
    const element = box.current;
    if (!element) return;
    // The same uirevision keeps the reader's zoom when the data is refreshed.
    const { data, layout } = harmless(figure);
    void Plotly.react(element, data, { ...layout, height, uirevision: viewKey }, CONFIG);
  }, [figure, height, viewKey]);

  useHearing(box, hears);

  return <div ref={box} style={{ width: "100%", minHeight: height }} />;
}

type Hears = Pick<PlotProps, "onFieldClick" | "onPointClick" | "onPointHover" | "onZoom">;

/** Passes on what the reader does with the chart, for as long as it is there. */
function useHearing(
  box: RefObject<HTMLDivElement | null>,
  { onFieldClick, onPointClick, onPointHover, onZoom }: Hears,
): void {
  const clicked = useEffectEvent((trace: number, point: number) => onPointClick?.(trace, point));
  const chosen = useEffectEvent((x: string | number, y: string | number) => onFieldClick?.(x, y));
  const hovered = useEffectEvent((mark: Mark | null) => onPointHover?.(mark));
  const zoomed = useEffectEvent((event: PlotRelayoutEvent) => {
    const span = spanOf(event);
    if (span !== undefined) onZoom?.(span);
  });
  useEffect(() => {
    const element = box.current as PlotlyHTMLElement | null;
    if (!element) return;
    element.on("plotly_click", ({ points: [point] }) => {
      if (!point) return;
      clicked(point.curveNumber, point.pointNumber);
      if (isField(point.x) && isField(point.y)) chosen(point.x, point.y);
    });
    element.on("plotly_hover", ({ points: [point] }) =>
      hovered(point ? { trace: point.curveNumber, point: point.pointNumber } : null),
    );
    element.on("plotly_unhover", () => hovered(null));
    element.on("plotly_relayout", zoomed);
    const observer = new ResizeObserver(() => Plotly.Plots.resize(element));
    observer.observe(element);
    return () => {
      observer.disconnect();
      Plotly.purge(element);
    };
  }, [box]);
}

function isField(value: unknown): value is string | number {
  return typeof value === "string" || typeof value === "number";
}

/** What a change of the layout says of the axis of time; undefined where it is about something else. */
export function spanOf(event: PlotRelayoutEvent): readonly [string, string] | null | undefined {
  if (event["xaxis.autorange"]) return null;
  const [from, until] = [event["xaxis.range[0]"], event["xaxis.range[1]"]];
  return from === undefined || until === undefined ? undefined : [String(from), String(until)];
}
