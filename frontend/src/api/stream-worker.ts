/** Shared by all tabs: HTTP/1.1 allows six connections per host, so one stream serves them all. */

import { openStream, type Update } from "./stream";

export type Word = { readonly type: "open"; readonly url: string } | { readonly type: "bye" };

const tabs = new Set<MessagePort>();
let close: (() => void) | undefined;
let isUp = false;

function sendAll(update: Update): void {
  if (update.type === "line") isUp = update.up;
  for (const tab of tabs) tab.postMessage(update);
}

function welcome(tab: MessagePort, url: string): void {
  tabs.add(tab);
  if (close) tab.postMessage({ type: "line", up: isUp } satisfies Update);
  else close = openStream(url, sendAll);
}

function dismiss(tab: MessagePort): void {
  tabs.delete(tab);
  if (tabs.size > 0) return;
  close?.();
  close = undefined;
  isUp = false;
}

self.addEventListener("connect", (event) => {
  const tab = (event as MessageEvent).ports[0];
  if (!tab) return;
  tab.onmessage = ({ data }: MessageEvent<Word>) => {
    if (data.type === "open") welcome(tab, data.url);
    else dismiss(tab);
  };
});
