import { openDashboard, USUAL_ANSWERS } from "@testing/openDashboard";
import { server } from "@testing/server";
import { screen, within } from "@testing-library/react";
import { beforeEach, expect, it } from "vitest";
import { PLACES } from "./places";

beforeEach(() => server.use(...USUAL_ANSWERS));

it("has at most eight entries in the menu, in groups, each with a key of its own", async () => {
  openDashboard("/campaigns");
  const menu = within(await screen.findByRole("navigation", { name: "Main" }));
  expect(menu.getAllByRole("link").map(({ textContent }) => textContent)).toEqual([
    ...["Overview", "Campaigns", "Schedules", "Runs", "Trends", "Incidents", "Compare", "Settings"],
  ]);
  expect(menu.getAllByRole("group")).toHaveLength(4);
  expect(new Set(PLACES.map(({ key }) => key)).size).toBe(8);
});

it.each([
  ["/peers", "Compare", "Compare pages", "Surfaces"],
  ["/published", "Compare", "Compare pages", "Peers"],
])("%s belongs to %s and links to its other pages", async (address, entry, tabs, other) => {
  openDashboard(address);
  const links = within(await screen.findByRole("navigation", { name: tabs }));
  expect(links.getByRole("link", { name: other })).toBeInTheDocument();
  const menu = within(screen.getByRole("navigation", { name: "Main" }));
  expect(menu.getByRole("link", { name: entry })).toHaveAttribute("aria-current");
});

it("offers the display settings on every screen width", async () => {
  const { user } = openDashboard("/campaigns");
  const button = await screen.findByRole("button", { name: "Display: units, time zone, colours" });
  expect(button.className).not.toMatch(/visible-from/);
  await user.click(button);
  expect(await screen.findByRole("radiogroup", { name: "Rate unit" })).toBeInTheDocument();
});
