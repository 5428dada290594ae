/** Every request leaves here, with the session's cookie, and every refusal comes back as an ApiError. */

import createClient from "openapi-fetch";
import { ApiError, errorOf } from "./errors";
import type { paths } from "./schema";

export const api = createClient<paths>({
  baseUrl: location.origin,
  headers: { "X-Iotide-Csrf": "1" },
  // openapi-fetch keeps the fetch it finds at its creation; asking late lets msw answer in tests.
  fetch: (request) => globalThis.fetch(request),
});

interface Outcome<Data> {
  readonly data?: Data;
  readonly error?: unknown;
  readonly response: Response;
}

/** The data of an answer; an ApiError for every status above 299 and when the server cannot be reached. */
export async function answer<Data>(call: Promise<Outcome<Data>>): Promise<Data> {
  const { data, error, response } = await call.catch((cause: unknown) => {
    throw isAbort(cause) ? cause : ApiError.unreachable(cause);
  });
  if (!response.ok) throw errorOf(response.status, error, waitOf(response));
  return data as Data;
}

/** Seconds in the header Retry-After; null where it is absent. */
function waitOf(response: Response): number | null {
  const seconds = Number(response.headers.get("retry-after"));
  return seconds > 0 ? seconds : null;
}

function isAbort(cause: unknown): boolean {
  return cause instanceof DOMException && cause.name === "AbortError";
}
