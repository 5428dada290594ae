/** Waiting for the server: what it refuses because other requests of the same person are under way is asked again. */

import { ApiError } from "./errors";

const MOST_WAITS = 30;
const WAITING_CODES: ReadonlySet<string> = new Set(["one_at_a_time", "too_many_at_once"]);
const FIRST_MILLISECONDS = 1_000;
const MOST_MILLISECONDS = 30_000;

/** Whether other requests of the same person are what stands in the way; that ends by itself. */
export function retryWhileBusy(failures: number, error: Error): boolean {
  return failures < MOST_WAITS && error instanceof ApiError && WAITING_CODES.has(error.code);
}

/** As long as the server says, else longer and longer. */
export function retryDelay(failures: number, error: Error): number {
  const seconds = error instanceof ApiError ? error.waitSeconds : null;
  return seconds !== null ? seconds * 1_000 : Math.min(FIRST_MILLISECONDS * 2 ** failures, MOST_MILLISECONDS);
}
