/** Which cells of a campaign have too few runs, and how many more would be enough; pure. */

import type { Campaign, Cell } from "@/api/types";
import { isOpen } from "./CampaignProgress";

/** Below so many runs a median has no interval. */
export const ENOUGH_RUNS = 4;

/** The runs of a cell that count, or are still to come. */
export function runsOf(cell: Cell, campaign: Campaign): number {
  return isOpen(campaign) ? cell.runs.length : Math.max(0, ...cell.results.map(({ n }) => n));
}

export function cellsWithFew(cells: readonly Cell[], campaign: Campaign): Cell[] {
  return cells.filter((cell) => runsOf(cell, campaign) < ENOUGH_RUNS);
}

/** So many more that each of them has enough; at least one. */
export function repeatsWanted(cells: readonly Cell[], campaign: Campaign): number {
  const missing = cells.map((cell) => ENOUGH_RUNS - runsOf(cell, campaign));
  return Math.max(1, ...missing);
}
