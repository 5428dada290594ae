/** Links to the runs behind a number. Consecutive runs are shown as a span. */

import { Fragment } from "react";
import { RunLink } from "./links";

const MOST_LINKS = 40;

interface RunLinksProps {
  readonly ids: readonly number[];
  /** Up to this number, each run has a link of its own. */
  readonly mostLinks?: number;
}

export function RunLinks({ ids, mostLinks = MOST_LINKS }: RunLinksProps) {
  const spans = runSpans(ids);
  const parts = ids.length <= mostLinks ? ids.map((id) => [id, id] as const) : spans;
  return (
    <span data-export={JSON.stringify({ ids: ids.join(" "), n: ids.length })}>
      {parts.map(([first, last], index) => (
        <Fragment key={first}>
          {index > 0 && ", "}
          <RunLink id={first} inherit />
          {last > first && (
            <>
              –
              <RunLink id={last} inherit />
            </>
          )}
        </Fragment>
      ))}
    </span>
  );
}

/** Return the first and last id of each unbroken sequence, in order. */
export function runSpans(ids: readonly number[]): (readonly [number, number])[] {
  const spans: [number, number][] = [];
  for (const id of [...new Set(ids)].sort((a, b) => a - b)) {
    const last = spans.at(-1);
    if (last && id === last[1] + 1) last[1] = id;
    else spans.push([id, id]);
  }
  return spans;
}
