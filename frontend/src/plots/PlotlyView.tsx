/** Draws a figure with plotly; import it only through Plot. */

import type { PlotlyHTMLElement, PlotRelayoutEvent } from "plotly.js";
import { type RefObject, useEffect, useEffectEvent, useRef } from "react";
import { escapeTags } from "./escapeTags";
import type { Figure } from "./figure";
import Plotly from "./plotly";
import { toolbarConfig, toolbarLayout } from "./toolbar";

export interface PlotProps {
  readonly figure: Figure;
  /** Text alternative of the figure. */
  readonly label: string;
  /** The zoom is kept while this key stays the same. */
  readonly viewKey: string;
  readonly height?: number;
  /** Without a toolbar, for small multiples. */
  readonly isBare?: boolean;
  readonly onPointClick?: (trace: number, point: number) => void;
  /** Coordinates of the clicked cell of a map or surface. */
  readonly onFieldClick?: (x: string | number, y: string | number) => void;
  /** Null when the pointer leaves. */
  readonly onPointHover?: (mark: Mark | null) => void;
  /** The selected time span in the displayed time zone; null after a reset. */
  readonly onZoom?: (span: readonly [string, string] | null) => void;
}

export interface Mark {
  readonly trace: number;
  readonly point: number;
}

export default function PlotlyView({ figure, viewKey, height = 380, isBare = false, ...hears }: PlotProps) {
  const box = useRef<HTMLDivElement>(null);

  useEffect(() => {
    const element = box.current;
    if (!element) return;
    // The same uirevision keeps the zoom when data is refreshed.
    const { data, layout } = escapeTags(figure);
    const drawn = { ...layout, ...toolbarLayout(figure), height, uirevision: viewKey };
    void Plotly.react(element, data, drawn, toolbarConfig(isBare));
  }, [figure, height, viewKey, isBare]);

  useListeners(box, hears);

  return <div ref={box} style={{ width: "100%", minHeight: height }} />;
}

type Listeners = Pick<PlotProps, "onFieldClick" | "onPointClick" | "onPointHover" | "onZoom">;

function useListeners(
  box: RefObject<HTMLDivElement | null>,
  { onFieldClick, onPointClick, onPointHover, onZoom }: Listeners,
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

/** Time span of a relayout event; undefined if it concerns something else. */
export function spanOf(event: PlotRelayoutEvent): readonly [string, string] | null | undefined {
  if (event["xaxis.autorange"]) return null;
  const [from, until] = [event["xaxis.range[0]"], event["xaxis.range[1]"]];
  return from === undefined || until === undefined ? undefined : [String(from), String(until)];
}
