/** Words, counts and order of the board's states; pure. */

import { t } from "@lingui/core/macro";
import type { Board, BoardCell, BoardCluster } from "@/api/types";

export type BoardState = BoardCell["state"];

export interface ClusterCells {
  readonly cluster: BoardCluster;
  readonly cells: readonly BoardCell[];
}

interface Words {
  /** Shown before the word, so that the state does not depend on colour. */
  readonly sign: string;
  readonly word: string;
  readonly meaning: string;
  readonly color: "red" | "orange" | "gray";
}

/** Worst first. */
export const STATE_WORDS: Readonly<Record<BoardState, Words>> = {
  slower: {
    sign: "▼",
    word: "slower",
    meaning: t`worse than its last healthy level by 3 % or more`,
    color: "red",
  },
  stale: {
    sign: "∅",
    word: "stale",
    meaning: t`no data for twice its usual gap, or since its schedule fired twice`,
    color: "orange",
  },
  noisy: { sign: "≈", word: "noisy", meaning: t`points vary more than before`, color: "orange" },
  faster: {
    sign: "▲",
    word: "faster",
    meaning: t`better than any earlier healthy level by 3 % or more`,
    color: "gray",
  },
  in_control: { sign: "=", word: t`in control`, meaning: t`no significant change`, color: "gray" },
  no_baseline: { sign: "?", word: t`no baseline`, meaning: t`too few data points`, color: "gray" },
};

const ORDER = Object.keys(STATE_WORDS) as BoardState[];

/** Return `3 of 8 series`, the series in the state of the cell, or `8 series` if all are. */
export function shareOf(cell: BoardCell): string {
  const all = cell.counts.reduce((sum, { series }) => sum + series, 0);
  const own = cell.counts.find(({ state }) => state === cell.state)?.series ?? 0;
  return own === all ? t`${all} series` : t`${own} of ${all} series`;
}

/** Return states with their number of cells, worst first. */
export function countsOf(cells: readonly BoardCell[]): (readonly [BoardState, number])[] {
  return ORDER.map((state) => [state, cells.filter((cell) => cell.state === state).length] as const).filter(
    ([, count]) => count > 0,
  );
}

/** Return clusters with their cells, worst cluster and worst cell first: by state, then by size of the change. */
export function worstFirst({ clusters, cells }: Pick<Board, "clusters" | "cells">): ClusterCells[] {
  return clusters
    .map((cluster) => ({
      cluster,
      cells: cells.filter(({ cluster_id }) => cluster_id === cluster.id).toSorted(byUrgency),
    }))
    .toSorted(({ cells: [a] }, { cells: [b] }) => (a && b ? byUrgency(a, b) : Number(!a) - Number(!b)));
}

function byUrgency(a: BoardCell, b: BoardCell): number {
  const weight = (cell: BoardCell) => Math.abs(cell.shift_ratio ?? 0);
  return ORDER.indexOf(a.state) - ORDER.indexOf(b.state) || weight(b) - weight(a);
}

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
