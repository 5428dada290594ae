/** Which rows of a long table are in sight, so that no others are drawn; all rows have one height. */

import { type UIEvent, useCallback, useEffect, useState } from "react";

const HEIGHT_AT_FIRST = 640;
/** Drawn above and below what is seen, and scrolled before others are drawn. */
const MARGIN_ROWS = 12;

export interface RowsInSight {
  readonly boxRef: (box: HTMLElement | null) => void;
  readonly onScroll: (event: UIEvent<HTMLElement>) => void;
  /** Drawn are the rows from `first` up to, not including, `last`. */
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

/** The rows to draw of `count`, where `shown` fit and the one at `top` is the first that is seen; pure. */
export function rowsAround(top: number, shown: number, count: number): { first: number; last: number } {
  const last = Math.min(count, top + shown + 2 * MARGIN_ROWS);
  return { first: Math.max(0, Math.min(top - MARGIN_ROWS, last - 1)), last };
}
