/** Plotly's toolbar: icons only, without a background, in the strip above the figure. Touch screens have none. */

import type { Config, Layout } from "plotly.js";
import type { Figure } from "./figure";

const CONFIG: Partial<Config> = {
  doubleClick: "autosize",
  displaylogo: false,
  plotlyServerURL: "",
  showSendToCloud: false,
  modeBarButtonsToRemove: ["select2d", "lasso2d", "autoScale2d", "toImage"],
};

const GREY = "#868e96";

/** On touch, dragging must scroll the page; a toolbar on hover would never leave. */
export function isTouch(): boolean {
  return globalThis.matchMedia?.("(hover: none)").matches ?? false;
}

export function toolbarConfig(isHidden: boolean): Partial<Config> {
  return { ...CONFIG, displayModeBar: isHidden || isTouch() ? false : "hover" } as Partial<Config>;
}

/** Layout of the toolbar in the colours of the figure. */
export function toolbarLayout({ layout }: Figure): Partial<Layout> {
  const ink = layout.font?.color?.toString() ?? "#343a40";
  const modebar = { bgcolor: "rgba(0,0,0,0)", color: GREY, activecolor: ink };
  // A drag on touch scrolls. A 3-D scene has its own mode and still turns.
  return isTouch() ? { modebar, dragmode: false } : { modebar };
}
