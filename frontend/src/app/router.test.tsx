import { openDashboard, USUAL_ANSWERS } from "@testing/openDashboard";
import { server } from "@testing/server";
import { screen } from "@testing-library/react";
import { HttpResponse, http } from "msw";
import { beforeEach, expect, it } from "vitest";

beforeEach(() => server.use(...USUAL_ANSWERS));

it.each(["/runs/abc", "/campaigns/0", "/clusters/x/trend", "/nowhere"])(
  'shows "not found" for %s',
  async (address) => {
    openDashboard(address);
    expect(await screen.findByRole("heading", { name: "Page not found" })).toBeInTheDocument();
  },
);

it("highlights the menu entry above a page that is not in the menu", async () => {
  const error = { code: "run_not_found", message: "there is no run 7" };
  server.use(http.get("*/api/v1/runs/7", () => HttpResponse.json({ error }, { status: 404 })));
  openDashboard("/runs/7");
  expect(await screen.findByRole("alert")).toHaveTextContent("there is no run 7");
  expect(screen.getByRole("link", { name: "Runs" })).toHaveAttribute("aria-current", "page");
  expect(screen.getByRole("link", { name: "Trends" })).not.toHaveAttribute("aria-current");
});
