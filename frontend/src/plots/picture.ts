/** A drawn chart as a standalone picture with title and background, in its displayed width. */

import type { Layout, PlotlyHTMLElement } from "plotly.js";
import type { ImageFormat } from "@/components/export/ExportButton";
import { escapeTags } from "./escapeTags";

const GROUND = { light: "#ffffff", dark: "#242424" } as const;
const TITLE_PIXELS = 40;
const PNG_SCALE = 2;

/** Plotly's own fields on its element. */
type Drawn = PlotlyHTMLElement & { layout: Partial<Layout> };

/** Returns a data URL; keeps the zoom. */
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
      text: escapeTags(title),
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
