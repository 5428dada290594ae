/** A moment: how long ago, with the exact time on hover. */

import { t } from "@lingui/core/macro";
import { formatExactTime, formatWhen } from "@/lib/time";
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
