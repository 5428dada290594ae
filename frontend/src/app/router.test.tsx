import { openDashboard, USUAL_ANSWERS } from "@testing/openDashboard";
import { server } from "@testing/server";
import { screen } from "@testing-library/react";
import { HttpResponse, http } from "msw";
import { beforeEach, expect, it } from "vitest";

beforeEach(() => server.use(...USUAL_ANSWERS));

it.each(["/runs/abc", "/campaigns/0", "/clusters/x/trend", "/nowhere"])(
  "says of %s that there is nothing",
  async (address) => {
    openDashboard(address);
    expect(await screen.findByRole("heading", { name: "There is nothing here" })).toBeInTheDocument();
  },
);

it("marks in the menu where a page belongs that the menu does not lead to", async () => {
  const error = { code: "run_not_found", message: "there is no run 7" };
  server.use(http.get("*/api/v1/runs/7", () => HttpResponse.json({ error }, { status: 404 })));
  openDashboard("/runs/7");
  expect(await screen.findByRole("alert")).toHaveTextContent("there is no run 7");
  expect(screen.getByRole("link", { name: "Runs" })).toHaveAttribute("aria-current", "page");
  expect(screen.getByRole("link", { name: "Trends" })).not.toHaveAttribute("aria-current");
});
