import { renderWithApp } from "@testing/render";
import { server } from "@testing/server";
import { screen, waitFor, within } from "@testing-library/react";
import { HttpResponse, http } from "msw";
import { expect, it } from "vitest";
import { SessionProvider } from "@/components/session";
import { NotificationsSection } from "./NotificationsSection";

const HOOK = {
  id: 3,
  name: "desk",
  cluster_id: 1,
  cluster_name: "hpc1",
  receiver: { kind: "webhook", url: "https://desk.example.org/hooks", has_secret: true },
  quiet_hours: null,
  digest: null,
  digest_due_at: null,
  created_at: "2026-11-21T10:00:00Z",
  delivered_at: "2026-11-21T10:00:00Z",
  failed_at: "2026-11-21T11:00:00Z",
  failure: "HTTP 503",
};
const DELIVERY = {
  id: 9,
  kind: "alert",
  cluster_id: 1,
  subject: "write is slower",
  text: "",
  path: "/alerts/12",
  state: "waiting",
  created_at: "2026-11-21T11:00:00Z",
  due_at: "2999-01-01T00:00:00Z",
  ended_at: null,
  attempts: [{ at: "2026-11-21T11:00:00Z", words: "HTTP 503" }],
};

function open(channels: object[], role: "admin" | "operator" = "admin") {
  server.use(
    http.get("*/api/v1/channels", () => HttpResponse.json({ items: channels, next_cursor: null })),
    http.get("*/api/v1/channels/3/deliveries", () =>
      HttpResponse.json({ items: [DELIVERY], next_cursor: null }),
    ),
  );
  const principal = { kind: "user" as const, id: 1, name: "ada", roles: [{ role, cluster_id: null }] };
  const scopes = role === "admin" ? [{ value: "", label: "all clusters" }] : [];
  return renderWithApp(
    <SessionProvider principal={principal}>
      <NotificationsSection scopes={scopes} />
    </SessionProvider>,
  );
}

it("creates an e-mail channel with quiet hours and a digest", async () => {
  const made: unknown[] = [];
  server.use(
    http.post("*/api/v1/channels", async ({ request }) => {
      made.push(await request.json());
      return HttpResponse.json(HOOK, { status: 201 });
    }),
  );
  const { user } = open([]);
  expect(await screen.findByText(/No channels yet/)).toBeInTheDocument();
  await user.click(screen.getByRole("button", { name: "Add channel" }));
  const form = within(await screen.findByRole("form", { name: "New channel" }));
  const fields = {
    Name: "people",
    "Mail server": "mail",
    From: "a@example.org",
    To: "b@example.org, c@d.org",
  };
  for (const [label, value] of Object.entries(fields)) {
    await user.type(form.getByRole("textbox", { name: label }), value);
  }
  await user.click(form.getByRole("checkbox", { name: /Quiet hours/ }));
  await user.click(form.getByRole("checkbox", { name: /Weekly digest/ }));
  await user.click(form.getByRole("button", { name: "Create channel" }));
  await waitFor(() => expect(made).toHaveLength(1));
  expect(made[0]).toMatchObject({
    name: "people",
    cluster_id: null,
    receiver: {
      kind: "email",
      port: 587,
      tls: "starttls",
      user: null,
      recipients: ["b@example.org", "c@d.org"],
    },
    quiet_hours: { from: "22:00", until: "07:00" },
    digest: { weekday: "monday", hour: 8 },
  });
});

it("keeps a secret that is not entered again when a channel is changed", async () => {
  const saved: unknown[] = [];
  server.use(
    http.put("*/api/v1/channels/3", async ({ request }) => {
      saved.push(await request.json());
      return HttpResponse.json(HOOK);
    }),
  );
  const { user } = open([HOOK]);
  await user.click(await screen.findByRole("button", { name: "Change desk" }));
  await user.click(await screen.findByRole("button", { name: "Save" }));
  await waitFor(() => expect(saved).toHaveLength(1));
  expect(saved[0]).toEqual({
    name: "desk",
    receiver: { kind: "webhook", url: "https://desk.example.org/hooks", secret: null },
    quiet_hours: null,
    digest: null,
  });
});

it("shows the result of a test, the last failure and the messages", async () => {
  server.use(
    http.post("*/api/v1/channels/3/test", () => HttpResponse.json({ delivered: false, words: "HTTP 404" })),
  );
  const { user } = open([HOOK]);
  expect(await screen.findByText(/: HTTP 503/)).toBeInTheDocument();
  await user.click(screen.getByRole("button", { name: "Test desk" }));
  expect(await screen.findByText("Not delivered: HTTP 404")).toBeInTheDocument();
  await user.click(screen.getByRole("button", { name: "Messages of desk" }));
  expect(await screen.findByText("write is slower")).toBeInTheDocument();
});

it("deletes only after a confirmation", async () => {
  const asked: string[] = [];
  server.use(
    http.delete("*/api/v1/channels/3", () => {
      asked.push("delete");
      return new HttpResponse(null, { status: 204 });
    }),
  );
  const { user } = open([HOOK]);
  await user.click(await screen.findByRole("button", { name: "Delete desk" }));
  expect(asked).toEqual([]);
  await user.click(await screen.findByRole("button", { name: "Delete channel" }));
  await waitFor(() => expect(asked).toEqual(["delete"]));
});

it("shows operators the messages, but no controls", async () => {
  open([HOOK], "operator");
  expect(await screen.findByRole("button", { name: "Messages of desk" })).toBeInTheDocument();
  for (const name of ["Add channel", "Change desk", "Test desk", "Delete desk"])
    expect(screen.queryByRole("button", { name })).not.toBeInTheDocument();
});
