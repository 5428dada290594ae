import { renderWithApp } from "@testing/render";
import { server } from "@testing/server";
import { screen, waitFor } from "@testing-library/react";
import { HttpResponse, http } from "msw";
import { expect, it } from "vitest";
import type { Drain, Principal } from "@/api/types";
import { SessionProvider } from "@/components/session";
import { DrainButton, DrainNote } from "./DrainButton";
import type { DrainSubject } from "./queries";

const DRAIN: Drain = {
  kind: "node",
  subject_id: 4,
  cluster_id: 1,
  reason: "its disk is replaced",
  by: "ada",
  since: "2026-11-21T10:00:00Z",
  until: null,
};
const NODE: DrainSubject = { kind: "node", id: 4 };

function open(drain: Drain | null, subject = NODE, role: "viewer" | "operator" = "operator") {
  const principal: Principal = {
    kind: "user",
    id: 1,
    name: "grace",
    roles: [{ role, cluster_id: 1 }],
  };
  return renderWithApp(
    <SessionProvider principal={principal}>
      <DrainNote drain={drain} />
      <DrainButton clusterId={1} drain={drain} name={`${subject.kind} n1`} subject={subject} />
    </SessionProvider>,
  );
}

it.each([
  ["node", "nodes/4"],
  ["target", "targets/4"],
  ["cluster", "clusters/4"],
] as const)("drains a %s for the reason and until the time that were entered", async (kind, path) => {
  const sent: unknown[] = [];
  server.use(
    http.put(`*/api/v1/${path}/drain`, async ({ request }) => {
      sent.push(await request.json());
      return HttpResponse.json(DRAIN);
    }),
  );
  const { user } = open(null, { kind, id: 4 });
  await user.click(screen.getByRole("button", { name: `Drain ${kind} n1` }));
  await user.type(await screen.findByLabelText(/Reason/), "its disk is replaced");
  await user.type(screen.getByLabelText("Until"), "2026-12-01T06:00");
  await user.click(screen.getByRole("button", { name: "Drain" }));
  await waitFor(() => expect(screen.queryByRole("dialog")).not.toBeInTheDocument());
  expect(sent).toEqual([
    { reason: "its disk is replaced", until: new Date("2026-12-01T06:00").toISOString() },
  ]);
});

it("requires a reason and sends nothing without one", async () => {
  const { user } = open(null);
  await user.click(screen.getByRole("button", { name: "Drain node n1" }));
  const reason = await screen.findByLabelText(/Reason/);
  await user.click(screen.getByRole("button", { name: "Drain" }));
  expect(reason).toBeRequired();
  expect(screen.getByRole("dialog")).toBeInTheDocument();
});

it("stays open with the error of a rejection, and sends no end if none was entered", async () => {
  const sent: unknown[] = [];
  server.use(
    http.put("*/api/v1/nodes/4/drain", async ({ request }) => {
      sent.push(await request.json());
      const error = { code: "node_not_found", message: "there is no node 4", remedy: "look it up" };
      return HttpResponse.json({ error }, { status: 404 });
    }),
  );
  const { user } = open(null);
  await user.click(screen.getByRole("button", { name: "Drain node n1" }));
  await user.type(await screen.findByLabelText(/Reason/), "x");
  await user.click(screen.getByRole("button", { name: "Drain" }));
  expect(await screen.findByText("there is no node 4")).toBeInTheDocument();
  expect(sent).toEqual([{ reason: "x", until: null }]);
});

it("shows a drain with reason and author, and resumes it", async () => {
  let resumed = 0;
  server.use(
    http.delete("*/api/v1/nodes/4/drain", () => {
      resumed += 1;
      return new HttpResponse(null, { status: 204 });
    }),
  );
  const { user } = open(DRAIN);
  expect(screen.getByText("drained")).toBeInTheDocument();
  expect(screen.getByText(/its disk is replaced/)).toHaveTextContent("(ada, until resumed)");
  await user.click(screen.getByRole("button", { name: "Resume node n1" }));
  await waitFor(() => expect(resumed).toBe(1));
});

it("shows viewers the reason but no button", () => {
  open(DRAIN, NODE, "viewer");
  expect(screen.queryByRole("button")).not.toBeInTheDocument();
  expect(screen.getByText(/its disk is replaced/)).toBeInTheDocument();
});
