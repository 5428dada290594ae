import { afterEach, beforeEach, expect, it, vi } from "vitest";
import { openStream, type Update } from "./stream";

/** An EventSource controlled by the test. */
class PlayedSource extends EventTarget {
  static readonly CLOSED = 2;
  static all: PlayedSource[] = [];
  readyState = 0;
  onopen: (() => void) | undefined;
  onerror: (() => void) | undefined;
  constructor(readonly url: string) {
    super();
    PlayedSource.all.push(this);
  }
  say(type: string, data = ""): void {
    this.dispatchEvent(new MessageEvent(type, { data }));
  }
  refuse(): void {
    this.readyState = PlayedSource.CLOSED;
    this.onerror?.();
  }
  close(): void {
    this.readyState = PlayedSource.CLOSED;
  }
}

beforeEach(() => {
  vi.useFakeTimers();
  vi.stubGlobal("EventSource", PlayedSource);
  PlayedSource.all = [];
});
afterEach(() => {
  vi.useRealTimers();
  vi.unstubAllGlobals();
});

function listen(): { received: Update[]; close: () => void } {
  const received: Update[] = [];
  return { received, close: openStream("/events", (update) => received.push(update)) };
}

it("reports changes", () => {
  const { received } = listen();
  PlayedSource.all[0]?.say("change", '{"kind":"run","id":7,"version":3,"cluster_id":1}');
  expect(received).toEqual([{ type: "change", kind: "run", id: 7 }]);
});

it("opens a refused stream again and reports a reset", () => {
  const { received } = listen();
  PlayedSource.all[0]?.refuse();
  vi.advanceTimersByTime(5000);
  PlayedSource.all[1]?.onopen?.();
  expect(received).toEqual([{ type: "line", up: false }, { type: "line", up: true }, { type: "reset" }]);
});

it("lets the browser resume a broken stream", () => {
  listen();
  PlayedSource.all[0]?.onerror?.();
  vi.advanceTimersByTime(60_000);
  expect(PlayedSource.all).toHaveLength(1);
});

it("stays closed once closed", () => {
  const { close } = listen();
  PlayedSource.all[0]?.refuse();
  close();
  vi.advanceTimersByTime(60_000);
  expect(PlayedSource.all).toHaveLength(1);
});
