/** One EventSource on the change feed, in the shared worker or, without one, in the tab. */

import * as z from "zod/mini";

const Change = z.object({ kind: z.string(), id: z.number() });

/** Messages to a tab: a row changed, all may have changed, connection up or down. */
export type Update =
  | { readonly type: "change"; readonly kind: string; readonly id: number }
  | { readonly type: "reset" }
  | { readonly type: "line"; readonly up: boolean };

const RETRY_MILLISECONDS = 5000;

/**
 * Reports every update until the returned function is called.
 *
 * The browser resumes a broken stream with Last-Event-ID. A stream that the server refused (expired session, restart)
 * is opened again. Updates in between may be lost, so it sends a reset.
 */
export function openStream(url: string, send: (update: Update) => void): () => void {
  let source: EventSource;
  let retry: ReturnType<typeof setTimeout> | undefined;

  function connect(isFirst: boolean): void {
    source = new EventSource(url);
    source.addEventListener("change", (event) => sendChange(event.data, send));
    source.addEventListener("reset", () => send({ type: "reset" }));
    source.onopen = () => {
      send({ type: "line", up: true });
      if (!isFirst) send({ type: "reset" });
    };
    source.onerror = () => {
      send({ type: "line", up: false });
      if (source.readyState === EventSource.CLOSED) retry = setTimeout(connect, RETRY_MILLISECONDS, false);
    };
  }

  connect(true);
  return () => {
    clearTimeout(retry);
    source.close();
  };
}

function sendChange(text: string, send: (update: Update) => void): void {
  const change = Change.safeParse(JSON.parse(text));
  send(change.success ? { type: "change", ...change.data } : { type: "reset" });
}
