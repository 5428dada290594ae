/** A day, with the exact time on hover: for what is known no closer, or where there is little room. */

import { formatDay, formatExactTime } from "@/lib/time";

export function Day({ at }: { at: string }) {
  return (
    <time dateTime={at} style={{ whiteSpace: "nowrap" }} title={formatExactTime(at)}>
      {formatDay(at)}
    </time>
  );
}
