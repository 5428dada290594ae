/** The pages for an anonymous reader: they show that state and the way to sign in. */

import { expect, test } from "@playwright/test";
import { look, openLoggedIn, shown } from "./look";

const ANONYMOUS = {
  kind: "anonymous",
  id: null,
  name: "anonymous",
  roles: [{ role: "viewer", cluster_id: null }],
};

test("every page shows a guest the notice and the way to sign in and back", async ({ browser }) => {
  const page = await openLoggedIn(browser);
  // Only the caller differs here; the API prevents changes.
  await page.route("**/api/v1/session", (route) => route.fulfill({ json: { principal: ANONYMOUS } }));
  const note = page.getByRole("note").filter({ hasText: "You are browsing as a guest" });
  for (const [name, path] of Object.entries({ overview: "/", runs: "/runs" }))
    await look(page, { name: `guest-${name}`, path, sign: shown(() => note) });
  await note.getByRole("link", { name: "Sign in" }).click();
  await expect(page).toHaveURL(/\/login\?next=%2Fruns/);
  await page.context().close();
});
