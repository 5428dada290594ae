/** What jsdom lacks and Mantine asks for; an unexpected request fails its test. */

import "@testing-library/jest-dom/vitest";
import { cleanup, configure } from "@testing-library/react";
import { afterAll, afterEach, beforeAll } from "vitest";
import { server } from "./server";

// The first test of a page loads all of it, which takes seconds on a busy machine.
configure({ asyncUtilTimeout: 5000, getElementError: (message) => new Error(message ?? "") });

class StillObserver implements ResizeObserver {
  observe(): void {}
  unobserve(): void {}
  disconnect(): void {}
}

/** The news of a server that has none. */
class SilentSource extends EventTarget {
  close(): void {}
}

globalThis.ResizeObserver = StillObserver;
Object.assign(globalThis, { EventSource: SilentSource, scrollTo: () => undefined });
window.matchMedia = (query) =>
  Object.assign(new EventTarget(), {
    matches: false,
    media: query,
    onchange: null,
    addListener: () => undefined,
    removeListener: () => undefined,
  });
window.HTMLElement.prototype.scrollIntoView = () => undefined;
Object.defineProperty(document, "fonts", { value: new EventTarget() });

beforeAll(() => server.listen({ onUnhandledRequest: "error" }));
afterEach(() => {
  cleanup();
  server.resetHandlers();
});
afterAll(() => server.close());
