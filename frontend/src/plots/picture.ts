/** A drawn chart as a picture that stands for itself: with its title, on a ground, as wide as it is seen. */

import type { Layout, PlotlyHTMLElement } from "plotly.js";
import type { ImageFormat } from "@/components/export/ExportButton";
import { harmless } from "./harmless";

const GROUND = { light: "#ffffff", dark: "#242424" } as const;
const TITLE_PIXELS = 40;
const PNG_SCALE = 2;

/** What plotly keeps at the element that it drew into. */
type Drawn = PlotlyHTMLElement & { layout: Partial<Layout> };

/** A data URL; the zoom of the reader is kept. */
export async function pictureOf(
  box: HTMLElement,
  title: string,
  scheme: keyof typeof GROUND,
  format: ImageFormat,
): Promise<string> {
  const { default: Plotly } = await import("./plotly");
  const drawn = box as Drawn;
  const height = box.clientHeight + TITLE_PIXELS;
  const { data, layout } = drawn;
  const figure = { data, layout: { ...layout, ...pictureLayout(layout, title, GROUND[scheme]), height } };
  return Plotly.toImage(figure, {
    format,
    width: box.clientWidth,
    height,
    scale: format === "png" ? PNG_SCALE : 1,
  });
}

export function pictureLayout(layout: Partial<Layout>, title: string, ground: string): Partial<Layout> {
  return {
    title: {
      text: harmless(title),
      x: 0.01,
      xanchor: "left",
      y: 0.99,
      yanchor: "top",
      yref: "container",
      font: { size: 15 },
    },
    margin: { ...layout.margin, t: (layout.margin?.t ?? 0) + TITLE_PIXELS },
    paper_bgcolor: ground,
    plot_bgcolor: ground,
  };
}
