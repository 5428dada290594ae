/** Waiting for the server: a person has one heavy request at a time, and a second one is asked again. */

import { ApiError } from "./errors";

const MOST_WAITS = 30;
const FIRST_MILLISECONDS = 1_000;
const MOST_MILLISECONDS = 30_000;

/** Whether another heavy request of the same person is what stands in the way; that ends by itself. */
export function retryWhileBusy(failures: number, error: Error): boolean {
  return failures < MOST_WAITS && error instanceof ApiError && error.code === "one_at_a_time";
}

/** As long as the server says, else longer and longer. */
export function retryDelay(failures: number, error: Error): number {
  const seconds = error instanceof ApiError ? error.waitSeconds : null;
  return seconds !== null ? seconds * 1_000 : Math.min(FIRST_MILLISECONDS * 2 ** failures, MOST_MILLISECONDS);
}
