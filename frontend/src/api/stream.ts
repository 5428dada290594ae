/** One EventSource on the server's change feed; runs in the shared worker, or in the tab where there is none. */

import * as z from "zod/mini";

const Change = z.object({ kind: z.string(), id: z.number() });

/** What a tab hears: a row changed; all may have changed; the line is up or down. */
export type Update =
  | { readonly type: "change"; readonly kind: string; readonly id: number }
  | { readonly type: "reset" }
  | { readonly type: "line"; readonly up: boolean };

const RETRY_MILLISECONDS = 5000;

/**
 * Tells every update until the returned function is called.
 *
 * The browser resumes a broken stream by itself with Last-Event-ID. A stream that the server refused (an expired
 * session, a restart) is opened anew; what was missed meanwhile is unknown, hence the reset.
 */
export function openStream(url: string, tell: (update: Update) => void): () => void {
  let source: EventSource;
  let retry: ReturnType<typeof setTimeout> | undefined;

  function connect(isFirst: boolean): void {
    source = new EventSource(url);
    source.addEventListener("change", (event) => tellChange(event.data, tell));
    source.addEventListener("reset", () => tell({ type: "reset" }));
    source.onopen = () => {
      tell({ type: "line", up: true });
      if (!isFirst) tell({ type: "reset" });
    };
    source.onerror = () => {
      tell({ type: "line", up: false });
      if (source.readyState === EventSource.CLOSED) retry = setTimeout(connect, RETRY_MILLISECONDS, false);
    };
  }

  connect(true);
  return () => {
    clearTimeout(retry);
    source.close();
  };
}

function tellChange(text: string, tell: (update: Update) => void): void {
  const change = Change.safeParse(JSON.parse(text));
  tell(change.success ? { type: "change", ...change.data } : { type: "reset" });
}
