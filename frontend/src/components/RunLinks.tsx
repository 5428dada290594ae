/** Links to the runs behind a number. Consecutive runs are shown as a span. */

import { Fragment } from "react";
import { RunLink } from "./links";

const MOST_LINKS = 40;

export function RunLinks({ ids }: { ids: readonly number[] }) {
  const spans = runSpans(ids);
  const parts = ids.length <= MOST_LINKS ? ids.map((id) => [id, id] as const) : spans;
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
