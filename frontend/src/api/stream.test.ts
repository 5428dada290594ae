import { afterEach, beforeEach, expect, it, vi } from "vitest";
import { openStream, type Update } from "./stream";

/** An EventSource whose server is the test. */
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

function listen(): { heard: Update[]; close: () => void } {
  const heard: Update[] = [];
  return { heard, close: openStream("/events", (update) => heard.push(update)) };
}

it("passes changes on", () => {
  const { heard } = listen();
  PlayedSource.all[0]?.say("change", '{"kind":"run","id":7,"version":3,"cluster_id":1}');
  expect(heard).toEqual([{ type: "change", kind: "run", id: 7 }]);
});

it("opens a refused stream again and asks for everything, since it cannot know what it missed", () => {
  const { heard } = listen();
  PlayedSource.all[0]?.refuse();
  vi.advanceTimersByTime(5000);
  PlayedSource.all[1]?.onopen?.();
  expect(heard).toEqual([{ type: "line", up: false }, { type: "line", up: true }, { type: "reset" }]);
});

it("leaves a stream that merely broke to the browser, which resumes it", () => {
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
