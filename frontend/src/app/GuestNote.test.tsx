import { openDashboard, USUAL_ANSWERS } from "@testing/openDashboard";
import { server } from "@testing/server";
import { screen, within } from "@testing-library/react";
import { HttpResponse, http } from "msw";
import { beforeEach, expect, it } from "vitest";

beforeEach(() => server.use(...USUAL_ANSWERS));

it("shows guests a note with a sign-in link that leads back", async () => {
  const principal = {
    kind: "anonymous",
    id: null,
    name: "anonymous",
    roles: [{ role: "viewer", cluster_id: null }],
  };
  server.use(http.get("*/api/v1/session", () => HttpResponse.json({ principal })));
  openDashboard("/schedules");
  const note = await screen.findByRole("note");
  expect(note).toHaveTextContent("You are browsing as a guest");
  const link = within(note).getByRole("link", { name: "Sign in" });
  const { pathname, searchParams } = new URL((link as HTMLAnchorElement).href);
  expect([pathname, searchParams.get("next")]).toEqual(["/login", "/schedules"]);
});

it("hides the note from signed-in users", async () => {
  openDashboard("/schedules");
  expect(await screen.findByRole("heading", { name: "Schedules" })).toBeInTheDocument();
  expect(screen.queryByRole("note")).toBeNull();
});
