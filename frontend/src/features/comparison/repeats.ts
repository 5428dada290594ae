/** How a side that has too few runs is run again. */

import type { ReactNode } from "react";

/** Below so many runs there is no interval. */
export const ENOUGH_RUNS = 4;

/** What is run again. */
export interface RepeatedCell {
  readonly campaign_id: number;
  readonly cell_id: number;
}

/** A button that has a side run again. */
export type RenderRepeats = (cell: RepeatedCell, missing: number) => ReactNode;
