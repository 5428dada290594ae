/** Virtual scrolling: the visible rows of a long table. All rows have the same height. */

import { type UIEvent, useCallback, useEffect, useState } from "react";

const HEIGHT_AT_FIRST = 640;
/** Rows rendered above and below the visible ones, and rows scrolled before others are rendered. */
const MARGIN_ROWS = 12;

export interface RowsInSight {
  readonly boxRef: (box: HTMLElement | null) => void;
  readonly onScroll: (event: UIEvent<HTMLElement>) => void;
  /** Render rows from `first` up to, not including, `last`. */
  readonly first: number;
  readonly last: number;
}

export function useRowsInSight(count: number, rowPixels: number): RowsInSight {
  const [box, setBox] = useState<HTMLElement | null>(null);
  const [topRow, setTopRow] = useState(0);
  const [height, setHeight] = useState(HEIGHT_AT_FIRST);
  useEffect(() => {
    if (!box) return;
    const observer = new ResizeObserver(() => setHeight(box.clientHeight || HEIGHT_AT_FIRST));
    observer.observe(box);
    return () => observer.disconnect();
  }, [box]);
  const onScroll = useCallback(
    ({ currentTarget }: UIEvent<HTMLElement>) => {
      const row = Math.floor(currentTarget.scrollTop / rowPixels);
      setTopRow(row - (row % MARGIN_ROWS));
    },
    [rowPixels],
  );
  return { boxRef: setBox, onScroll, ...rowsAround(topRow, Math.ceil(height / rowPixels), count) };
}

/** Return the rows to render of `count`; `top` is the first visible row and `shown` the number that fit. Pure. */
export function rowsAround(top: number, shown: number, count: number): { first: number; last: number } {
  const last = Math.min(count, top + shown + 2 * MARGIN_ROWS);
  return { first: Math.max(0, Math.min(top - MARGIN_ROWS, last - 1)), last };
}
