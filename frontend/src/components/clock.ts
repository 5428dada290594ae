/** One clock for all relative times. */

import { useSyncExternalStore } from "react";

const TICK_MILLISECONDS = 1000;
const listeners = new Set<() => void>();
let timer: ReturnType<typeof setInterval> | undefined;

function subscribe(listener: () => void): () => void {
  listeners.add(listener);
  timer ??= setInterval(() => {
    for (const notify of listeners) notify();
  }, TICK_MILLISECONDS);
  return () => {
    listeners.delete(listener);
    if (listeners.size > 0) return;
    clearInterval(timer);
    timer = undefined;
  };
}

/** Return the time in milliseconds, rounded up to a step, so that a component renders only once a step. */
export function useNow(stepSeconds: number): number {
  const step = stepSeconds * 1000;
  return useSyncExternalStore(subscribe, () => Math.ceil(Date.now() / step) * step);
}
