/** A moment: how long ago, with the exact time on hover. */

import { t } from "@lingui/core/macro";
import { formatDay, formatExactTime, formatWhen } from "@/lib/time";
import { useNow } from "./clock";

const MINUTE_MILLISECONDS = 60_000;

interface WhenProps {
  readonly at: string | null;
  /** Stands before it, for instance “until ”. */
  readonly prefix?: string;
}

export function When({ at, prefix = "" }: WhenProps) {
  const isRecent = at !== null && Date.now() - Date.parse(at) < MINUTE_MILLISECONDS;
  const now = useNow(isRecent ? 1 : 60);
  if (at === null) return <span data-export='{"value":null}'>{t`never`}</span>;
  return (
    <time dateTime={at} title={formatExactTime(at)}>
      {prefix}
      {formatWhen(at, now)}
    </time>
  );
}

/** A day, with the exact time on hover: for what is known no closer, or where there is little room. */
export function Day({ at }: { at: string }) {
  return (
    <time dateTime={at} style={{ whiteSpace: "nowrap" }} title={formatExactTime(at)}>
      {formatDay(at)}
    </time>
  );
}
