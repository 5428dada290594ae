/** The views that load plotly. */

import { preloadable } from "@/components/preloadable";
import type { PlotProps } from "./PlotlyView";

const plotly = preloadable<PlotProps>(() => import("./PlotlyView"));
const surface = preloadable<PlotProps>(() => import("./SurfaceView"));

export const PlotlyView = plotly.View;
export const SurfaceView = surface.View;

/** Loads plotly while data is loading. */
export const preparePlots = plotly.preload;

/** Loads plotly with its 3-D part. */
export function prepareSpatialPlots(): void {
  plotly.preload();
  surface.preload();
}
