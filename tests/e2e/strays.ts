/** What pages ask of others than their own server, and what its security policy has to refuse them. */

import { type BrowserContext, expect } from "@playwright/test";
import { given } from "./surroundings";

const REFUSED = "iotideRefused";

const watched = new WeakMap<BrowserContext, string[]>();

/** All pages of it, from now on. */
export async function watchStrays(context: BrowserContext): Promise<void> {
  const { host } = new URL(given("IOTIDE_URL"));
  const strays: string[] = [];
  watched.set(context, strays);
  context.on("request", (request) => {
    const asked = new URL(request.url());
    // What a page makes itself, as a picture of a chart, goes to nobody.
    if (/^(https?|wss?):$/.test(asked.protocol) && asked.host !== host) strays.push(`asked for ${asked}`);
  });
  await context.exposeBinding(REFUSED, ({ page }, what: string) => strays.push(`${page.url()}: ${what}`));
  await context.addInitScript(listen, REFUSED);
}

/** None so far, of a context that is watched. */
export function expectNoStrays(context: BrowserContext, what: string): void {
  expect.soft(watched.get(context), `${what}: what left its server, or was refused`).toEqual([]);
}

/** In the page. */
function listen(name: string): void {
  document.addEventListener("securitypolicyviolation", ({ effectiveDirective, blockedURI, sourceFile }) =>
    Reflect.get(window, name)(`${effectiveDirective} refused ${blockedURI} to ${sourceFile}`),
  );
}
