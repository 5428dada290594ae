import { notifications } from "@mantine/notifications";
import { listOf, openDashboard, USUAL_ANSWERS } from "@testing/openDashboard";
import { server } from "@testing/server";
import { screen, waitFor, within } from "@testing-library/react";
import { HttpResponse, http } from "msw";
import { beforeEach, expect, it, vi } from "vitest";

const ADA = {
  id: 7,
  name: "ada",
  has_password: false,
  created_at: "2026-11-20T10:00:00Z",
  disabled_at: null,
  last_seen_at: "2026-11-21T10:00:00Z",
  session_count: 2,
  token_count: 1,
  schedule_count: 1,
  roles: [{ role: "operator", cluster_id: 1 }],
};
const LINK = "http://iotide.example.org/login#token=sesame";

let sent: { path: string; body: unknown }[];

beforeEach(() => {
  sent = [];
  async function keep({ request }: { request: Request }) {
    const typed = await request.text();
    sent.push({ path: new URL(request.url).pathname, body: typed && JSON.parse(typed) });
  }
  server.use(...USUAL_ANSWERS);
  server.use(
    http.get("*/api/v1/users", () => listOf([ADA, { ...ADA, id: 1, name: "grace" }])),
    http.post("*/api/v1/users", async (call) => {
      await keep(call);
      return HttpResponse.json({ ...ADA, id: 8, name: "hopper" }, { status: 201 });
    }),
    http.post("*/api/v1/users/:id/link", async (call) => {
      await keep(call);
      return HttpResponse.json({ url: LINK }, { status: 201 });
    }),
    http.put("*/api/v1/users/:id", async (call) => {
      await keep(call);
      return HttpResponse.json(ADA);
    }),
  );
});

it("adds a person with roles, and shows their link once", async () => {
  const { user } = openDashboard("/settings/people");
  await user.click(await screen.findByRole("button", { name: "Add person" }));
  const form = within(await screen.findByRole("form", { name: "New person" }));
  await user.type(form.getByRole("textbox", { name: "Name" }), "hopper");
  await user.click(form.getByRole("combobox", { name: "Cluster of the role" }));
  await user.keyboard("{Control>}a{/Control}all");
  await user.click(await screen.findByRole("option", { name: "All clusters, including future ones" }));
  await user.click(form.getByRole("button", { name: "Add role" }));
  await user.click(form.getAllByRole("combobox", { name: "Cluster of the role" })[1] as HTMLElement);
  await user.click(await screen.findByRole("option", { name: "hpc1" }));
  await user.selectOptions(form.getByRole("combobox", { name: "Role in hpc1" }), "operator");
  await user.click(form.getByRole("button", { name: "Add and create sign-in link" }));
  const dialog = within(await screen.findByRole("dialog", { name: "Sign-in link for hopper" }));
  expect(dialog.getByText(LINK)).toBeInTheDocument();
  const roles = [
    { cluster_id: null, role: "viewer" },
    { cluster_id: 1, role: "operator" },
  ];
  expect(sent).toEqual([
    { path: "/api/v1/users", body: { name: "hopper", roles } },
    { path: "/api/v1/users/8/link", body: "" },
  ]);
});

it("asks before it disables a user, and shows the consequences", async () => {
  const { user } = openDashboard("/settings/people");
  await user.click(await screen.findByRole("button", { name: "Disable ada" }));
  const dialog = within(await screen.findByRole("dialog", { name: "Disable ada?" }));
  expect(
    dialog.getByText(/2 sessions end immediately, 1 API token is revoked permanently/),
  ).toBeInTheDocument();
  await user.click(dialog.getByRole("button", { name: "Disable" }));
  await waitFor(() =>
    expect(sent).toEqual([{ path: "/api/v1/users/7", body: { roles: ADA.roles, disabled: true } }]),
  );
});

it("shows why a user was not disabled", async () => {
  const error = { code: "last_admin", message: "ada is the last administrator" };
  server.use(http.put("*/api/v1/users/:id", () => HttpResponse.json({ error }, { status: 409 })));
  const notice = vi.spyOn(notifications, "show");
  const { user } = openDashboard("/settings/people");
  await user.click(await screen.findByRole("button", { name: "Disable ada" }));
  const dialog = within(await screen.findByRole("dialog", { name: "Disable ada?" }));
  await user.click(dialog.getByRole("button", { name: "Disable" }));
  await waitFor(() =>
    expect(notice).toHaveBeenCalledWith(expect.objectContaining({ title: "ada is the last administrator" })),
  );
});

it("hides actions that would lock out the current user", async () => {
  openDashboard("/settings/people");
  const table = within(await screen.findByRole("table", { name: "People" }));
  expect(table.getByText("operator in hpc1", { selector: "tr:last-child td" })).toBeInTheDocument();
  expect(table.queryByRole("button", { name: "Disable grace" })).not.toBeInTheDocument();
});

it("is available only to admins of all clusters", async () => {
  server.use(
    http.get("*/api/v1/session", () =>
      HttpResponse.json({
        principal: { kind: "user", id: 1, name: "grace", roles: [{ role: "viewer", cluster_id: null }] },
      }),
    ),
    http.get("*/api/v1/tokens", () => listOf([])),
  );
  openDashboard("/settings/tokens");
  const nav = within(await screen.findByRole("navigation", { name: "Settings pages" }));
  expect(nav.getAllByRole("link").map((link) => link.textContent)).toEqual(["General", "Tokens"]);
  expect(await screen.findByText("You have no tokens yet.")).toBeInTheDocument();
  expect(screen.queryByRole("heading", { name: "API tokens of other users" })).not.toBeInTheDocument();
});
