/** A moment: how long ago, with the exact time on hover; and the clock that keeps it current. */

import { useSyncExternalStore } from "react";
import { formatExactTime, formatWhen } from "@/lib/time";

const TICK_MILLISECONDS = 1000;
let now = Date.now();

function subscribe(tell: () => void): () => void {
  const timer = setInterval(() => {
    now = Date.now();
    tell();
  }, TICK_MILLISECONDS);
  return () => clearInterval(timer);
}

/** The current time in milliseconds, once a second. */
export function useNow(): number {
  return useSyncExternalStore(subscribe, () => now);
}

export function When({ at }: { at: string | null }) {
  const current = useNow();
  if (at === null) return <span>never</span>;
  return (
    <time dateTime={at} title={formatExactTime(at)}>
      {formatWhen(at, Math.max(current, Date.now() - TICK_MILLISECONDS))}
    </time>
  );
}
