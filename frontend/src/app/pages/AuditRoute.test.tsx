import { listOf, openDashboard, USUAL_ANSWERS } from "@testing/openDashboard";
import { server } from "@testing/server";
import { screen, waitFor, within } from "@testing-library/react";
import { http } from "msw";
import { beforeEach, expect, it } from "vitest";

const ENTRY = {
  id: 5,
  at: "2026-11-21T10:00:00Z",
  principal_kind: "user",
  principal_id: 1,
  principal_name: "ada",
  address: "10.0.0.7",
  action: "target_changed",
  subject_kind: "target",
  subject_id: 3,
  cluster_id: 1,
  before: { name: "scratch", reserve_bytes: null },
  after: { name: "scratch", reserve_bytes: 1024 },
};

let asked: URLSearchParams;

beforeEach(() => {
  server.use(...USUAL_ANSWERS);
  server.use(
    http.get("*/api/v1/audit", ({ request }) => {
      asked = new URL(request.url).searchParams;
      return listOf([ENTRY]);
    }),
  );
});

it("shows actor, action, subject and address, and expands to the values before and after", async () => {
  const { user } = openDashboard("/settings/audit");
  const table = within(await screen.findByRole("table", { name: "Audit" }));
  const [, row] = table.getAllByRole("row");
  expect(row).toHaveTextContent(/ada\s*changed\s*target scratch\s*hpc1\s*10\.0\.0\.7/);
  expect(table.getByRole("link", { name: "target scratch" })).toHaveAttribute("href", "/targets/3");
  await user.click(table.getByRole("button", { name: "Values before and after target_changed 5" }));
  const [, first] = within(screen.getByRole("table", { name: "Values before and after" })).getAllByRole(
    "row",
  );
  expect(first).toHaveTextContent(/reserve bytes\s*null\s*1024/);
});

it("keeps filters in the address, requests by them and exports the filtered rows", async () => {
  const { router, user } = openDashboard("/settings/audit?actor=ada&from=2026-11-20");
  await screen.findByRole("table", { name: "Audit" });
  expect(Object.fromEntries(asked)).toMatchObject({ actor: "ada", from: "2026-11-20T00:00:00.000Z" });
  await user.selectOptions(screen.getByRole("combobox", { name: "Subject" }), "target");
  await waitFor(() => expect(asked.get("subject_kind")).toBe("target"));
  expect(router.state.location.search).toMatchObject({ actor: "ada", kind: "target" });
  expect(screen.getByRole("link", { name: "All as JSON Lines" })).toHaveAttribute(
    "href",
    "/api/v1/audit/export?actor=ada&subject_kind=target&from=2026-11-20T00%3A00%3A00.000Z&format=jsonl",
  );
});
