/** What the states of the board are called, and how its cells are counted and ordered; pure. */

import { t } from "@lingui/core/macro";
import type { Board, BoardCell } from "@/api/types";

export type Standing = BoardCell["state"];

interface Words {
  /** Stands before the word, so that nobody needs the colour. */
  readonly sign: string;
  readonly word: string;
  readonly colour: string;
  readonly meaning: string;
}

/** The gravest first. */
export const STANDINGS: Readonly<Record<Standing, Words>> = {
  slower: {
    sign: "▼",
    word: "slower",
    colour: "red",
    meaning: t`worse than its last healthy level by 3 % or more`,
  },
  stale: {
    sign: "∅",
    word: "stale",
    colour: "orange",
    meaning: t`no data for twice its usual gap, or since its schedule fired twice`,
  },
  noisy: { sign: "≈", word: "noisy", colour: "orange", meaning: t`its points scatter more than before` },
  faster: {
    sign: "▲",
    word: "faster",
    colour: "green",
    meaning: t`better than any earlier healthy level by 3 % or more`,
  },
  in_control: { sign: "=", word: t`in control`, colour: "gray", meaning: t`no change is shown` },
  no_baseline: { sign: "?", word: t`no baseline`, colour: "gray", meaning: t`too few points to tell` },
};

const ORDER = Object.keys(STANDINGS) as Standing[];
const TO_LOOK_AT: readonly Standing[] = ["slower", "stale", "noisy", "faster"];

/** `3 of 8 series`: those in the state of the cell; all of them without a number of others. */
export function shareOf(cell: BoardCell): string {
  const all = cell.counts.reduce((sum, { series }) => sum + series, 0);
  const own = cell.counts.find(({ state }) => state === cell.state)?.series ?? 0;
  return own === all ? t`${all} series` : t`${own} of ${all} series`;
}

/** `2 slower, 1 stale, 11 in control`: cells by their state, the gravest first. */
export function summaryOf(cells: readonly BoardCell[]): string {
  return ORDER.map((state) => [cells.filter((cell) => cell.state === state).length, state] as const)
    .filter(([count]) => count > 0)
    .map(([count, state]) => `${count} ${STANDINGS[state].word}`)
    .join(", ");
}

/** The cells that are not as they were, the gravest first, and of one state what moved most. */
export function toLookAt(cells: readonly BoardCell[]): BoardCell[] {
  const weight = (cell: BoardCell) => Math.abs(cell.shift_ratio ?? 0);
  return cells
    .filter(({ state }) => TO_LOOK_AT.includes(state))
    .toSorted((a, b) => ORDER.indexOf(a.state) - ORDER.indexOf(b.state) || weight(b) - weight(a));
}

/** The board of one cluster alone. */
export function ofCluster(board: Board, clusterId: number | undefined): Board {
  if (clusterId === undefined) return board;
  const cells = board.cells.filter((cell) => cell.cluster_id === clusterId);
  return {
    ...board,
    clusters: board.clusters.filter(({ id }) => id === clusterId),
    cells,
    attention: board.attention.filter((item) => item.cluster_id === clusterId),
    workloads: [...new Set(cells.map(({ workload }) => workload))],
  };
}
