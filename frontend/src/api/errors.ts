/** Errors of the API: code, field, value and remedy. */

import * as z from "zod/mini";

const ErrorBody = z.object({
  error: z.object({
    code: z.string(),
    message: z.string(),
    field: z.nullish(z.string()),
    value: z.nullish(z.unknown()),
    remedy: z.nullish(z.string()),
    request_id: z.nullish(z.string()),
  }),
});

/** A failed request; `status` 0 means that the server was unreachable. */
export class ApiError extends Error {
  constructor(
    readonly status: number,
    readonly code: string,
    message: string,
    readonly remedy: string | null = null,
    readonly field: string | null = null,
    /** Seconds to wait, from Retry-After. */
    readonly waitSeconds: number | null = null,
    readonly requestId: string | null = null,
  ) {
    super(message);
  }

  static unreachable(cause: unknown): ApiError {
    const error = new ApiError(
      0,
      "unreachable",
      "The server cannot be reached.",
      "Check the network, then try again.",
    );
    error.cause = cause;
    return error;
  }
}

/** ApiError from a body {"error": {...}}, or one that describes the unexpected body. */
export function errorOf(status: number, body: unknown, waitSeconds: number | null = null): ApiError {
  const parsed = ErrorBody.safeParse(body);
  if (!parsed.success)
    return new ApiError(status, "unexpected_answer", `The server answered with status ${status}.`);
  const { code, message, remedy, field, request_id: requestId } = parsed.data.error;
  return new ApiError(status, code, message, remedy ?? null, field ?? null, waitSeconds, requestId ?? null);
}

const MOST_WAITS = 30;
const WAITING_CODES: ReadonlySet<string> = new Set(["one_at_a_time", "too_many_at_once"]);
const FIRST_MILLISECONDS = 1_000;
const MOST_MILLISECONDS = 30_000;

/** The server limits parallel requests of a user; a retry will succeed. */
export function retryWhileBusy(failures: number, error: Error): boolean {
  return failures < MOST_WAITS && error instanceof ApiError && WAITING_CODES.has(error.code);
}

/** Uses Retry-After, else exponential backoff. */
export function retryDelay(failures: number, error: Error): number {
  const seconds = error instanceof ApiError ? error.waitSeconds : null;
  return seconds !== null ? seconds * 1_000 : Math.min(FIRST_MILLISECONDS * 2 ** failures, MOST_MILLISECONDS);
}
