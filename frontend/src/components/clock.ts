/** One clock for all that shows how long ago something was. */

import { useSyncExternalStore } from "react";

const TICK_MILLISECONDS = 1000;
const listeners = new Set<() => void>();
let timer: ReturnType<typeof setInterval> | undefined;

function subscribe(listener: () => void): () => void {
  listeners.add(listener);
  timer ??= setInterval(() => {
    for (const tell of listeners) tell();
  }, TICK_MILLISECONDS);
  return () => {
    listeners.delete(listener);
    if (listeners.size > 0) return;
    clearInterval(timer);
    timer = undefined;
  };
}

/** The current time in milliseconds, rounded up to a step: a component is rendered anew once a step and not more often. */
export function useNow(stepSeconds: number): number {
  const step = stepSeconds * 1000;
  return useSyncExternalStore(subscribe, () => Math.ceil(Date.now() / step) * step);
}
