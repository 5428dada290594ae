/** The pages as somebody sees them who reads without an account: they say so, with the way to log in. */

import { expect, test } from "@playwright/test";
import { look, openLoggedIn, shown } from "./look";

const NOBODY = {
  kind: "anonymous",
  id: null,
  name: "anonymous",
  roles: [{ role: "viewer", cluster_id: null }],
};

test("a guest is told so on every page, with the way to log in and back", async ({ browser }) => {
  const page = await openLoggedIn(browser);
  // Who is calling is all that differs here; that nobody may change anything is for the API to see to.
  await page.route("**/api/v1/session", (route) => route.fulfill({ json: { principal: NOBODY } }));
  const note = page.getByRole("note").filter({ hasText: "You read as a guest" });
  for (const [name, path] of Object.entries({ overview: "/", runs: "/runs" }))
    await look(page, { name: `guest-${name}`, path, sign: shown(() => note) });
  await note.getByRole("link", { name: "Log in" }).click();
  await expect(page).toHaveURL(/\/login\?next=%2Fruns/);
  await page.context().close();
});
