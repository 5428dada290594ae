/** HTTP client of the dashboard. Sends the session cookie and turns refusals into ApiErrors. */

import createClient from "openapi-fetch";
import { ApiError, errorOf } from "./errors";
import type { paths } from "./schema";

export const api = createClient<paths>({
  baseUrl: location.origin,
  headers: { "X-Iotide-Csrf": "1" },
  // openapi-fetch captures fetch at creation; a late lookup lets msw intercept it in tests.
  fetch: (request) => globalThis.fetch(request),
});

interface Outcome<Data> {
  readonly data?: Data;
  readonly error?: unknown;
  readonly response: Response;
}

/** Returns the data of a response. Throws an ApiError for statuses above 299 and if the server is unreachable. */
export async function answer<Data>(call: Promise<Outcome<Data>>): Promise<Data> {
  const { data, error, response } = await call.catch((cause: unknown) => {
    throw isAbort(cause) ? cause : ApiError.unreachable(cause);
  });
  if (!response.ok) throw errorOf(response.status, error, waitOf(response));
  return data as Data;
}

/** The Retry-After header; null if absent. */
function waitOf(response: Response): number | null {
  const seconds = Number(response.headers.get("retry-after"));
  return seconds > 0 ? seconds : null;
}

function isAbort(cause: unknown): boolean {
  return cause instanceof DOMException && cause.name === "AbortError";
}
