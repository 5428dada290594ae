/** Coverage: a spec in this directory checks each route of the router. */

import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "@playwright/test";

const APP = join(__dirname, "../../frontend/src/app");
const ROUTE = /^ {2}path: "([^"]*)",$/gm;
const PLACE = /\bpath: (?:"([^"]*)"|`([^`]*)`)/g;
/** Shown to visitors without a session, at any address. */
const LED_TO = "login";

/** The addresses that specs check, with 1 for ids known only at run time. */
function addresses(): string[] {
  const specs = readdirSync(__dirname).filter((name) => name.endsWith(".spec.ts"));
  return specs.flatMap((name) =>
    [...readFileSync(join(__dirname, name), "utf8").matchAll(PLACE)].map(([, plain, made]) =>
      (plain ?? made ?? "").replace(/\$\{[^}]*\}/g, "1").replace(/\?.*/, ""),
    ),
  );
}

/** The router and the areas that it combines. */
function routerFiles(): string[] {
  const areas = readdirSync(join(APP, "routes")).map((name) => join(APP, "routes", name));
  return [join(APP, "router.tsx"), ...areas];
}

test("every route is looked at", () => {
  const looked = addresses();
  const router = routerFiles().map((file) => readFileSync(file, "utf8"));
  const routes = router.flatMap((text) => [...text.matchAll(ROUTE)].map(([, path = ""]) => path));
  expect(routes).toContain("campaigns/$campaignId");
  const leftOut = routes.filter((route) => {
    const pattern = new RegExp(`^/${route.replace(/^\//, "").replace(/\$\w+/g, "\\d+")}$`);
    return route !== LED_TO && !looked.some((address) => pattern.test(address));
  });
  expect(leftOut).toEqual([]);
});
