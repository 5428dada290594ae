/** Requests of pages to other servers than their own, and violations of their security policy. */

import { type BrowserContext, expect } from "@playwright/test";
import { given } from "./surroundings";

const REFUSED = "iotideRefused";

const watched = new WeakMap<BrowserContext, string[]>();

/** All later pages of it. */
export async function watchForeignRequests(context: BrowserContext): Promise<void> {
  const { host } = new URL(given("IOTIDE_URL"));
  const foreign: string[] = [];
  watched.set(context, foreign);
  context.on("request", (request) => {
    const asked = new URL(request.url());
    // A URL made by the page itself, such as a chart's picture, is not a request.
    if (/^(https?|wss?):$/.test(asked.protocol) && asked.host !== host) foreign.push(`asked for ${asked}`);
  });
  await context.exposeBinding(REFUSED, ({ page }, what: string) => foreign.push(`${page.url()}: ${what}`));
  await context.addInitScript(listen, REFUSED);
}

/** None so far, of a context that is watched. */
export function expectNoForeignRequests(context: BrowserContext, what: string): void {
  expect.soft(watched.get(context), `${what}: what left its server, or was refused`).toEqual([]);
}

/** In the page. */
function listen(name: string): void {
  document.addEventListener("securitypolicyviolation", ({ effectiveDirective, blockedURI, sourceFile }) =>
    Reflect.get(window, name)(`${effectiveDirective} refused ${blockedURI} to ${sourceFile}`),
  );
}
