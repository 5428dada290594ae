/** Browser features that Mantine needs and happy-dom lacks. Unexpected requests fail the test. */

import "@testing-library/jest-dom/vitest";
import { cleanup, configure } from "@testing-library/react";
import { afterAll, afterEach, beforeAll, expect, vi } from "vitest";
import { tableData } from "@/lib/tableData";
import { displayedNumbers } from "./exportCheck";
import { server } from "./server";

// Only ends tests that hang: the first test of a page also waits for its modules, half a minute on a busy machine.
configure({ asyncUtilTimeout: 60_000, getElementError: (message) => new Error(message ?? "") });

class StillObserver implements ResizeObserver {
  observe(): void {}
  unobserve(): void {}
  disconnect(): void {}
}

/** A change feed without updates. */
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
Object.defineProperty(document, "fonts", { value: new EventTarget(), configurable: true });

/** Checks the export of every table on a test's page; use Datum, Quantity and MeasuredValue for numbers. */
function checkExports(): void {
  for (const table of document.querySelectorAll<HTMLTableElement>("table[data-exported=rows]"))
    expect(displayedNumbers(tableData(table)), `export of ${table.ariaLabel}`).toEqual([]);
}

/** A page shows an unanswered request as an error of one of its parts, for which few tests look. */
const unanswered: string[] = [];

beforeAll(() =>
  server.listen({
    onUnhandledRequest({ method, url }) {
      unanswered.push(`${method} ${url}`);
      throw new Error(`no handler for ${method} ${url}`); // otherwise it leaves for the network
    },
  }),
);
afterEach(() => {
  try {
    checkExports();
    expect(unanswered, "requests without a handler").toEqual([]);
  } finally {
    cleanup();
    server.resetHandlers();
    unanswered.length = 0;
  }
});
afterAll(async () => {
  // Files share modules: a page that is still loading at the end of this one could not be loaded by a later one.
  await vi.dynamicImportSettled();
  server.close();
});
