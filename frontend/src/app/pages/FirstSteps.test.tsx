import { listOf, NO_BOARD, openDashboard, USUAL_ANSWERS } from "@testing/openDashboard";
import { server } from "@testing/server";
import { screen, within } from "@testing-library/react";
import { HttpResponse, http } from "msw";
import { beforeEach, expect, it } from "vitest";

beforeEach(() => server.use(...USUAL_ANSWERS));

it("shows what is done and what is next in a new installation", async () => {
  openDashboard("/");
  const start = within(await screen.findByRole("region", { name: "Start here" }));
  expect(start.getByText("Done: Cluster hpc1 exists.")).toBeInTheDocument();
  expect(start.getByRole("link", { name: "Add a node" })).toHaveAttribute("href", "/clusters/1");
  expect(start.queryByRole("link", { name: "Run a first campaign" })).not.toBeInTheDocument();
  expect(screen.queryByRole("region", { name: "Status" })).not.toBeInTheDocument();
});

it("leads to the first campaign once there is a node", async () => {
  const nodes = { online: 1, stuck: 0, silent: 0, never_seen: 0, drained: 0, passed_over: 0 };
  const clusters = [{ ...NO_BOARD.clusters[0], nodes }];
  server.use(http.get("*/api/v1/board", () => HttpResponse.json({ ...NO_BOARD, clusters })));
  openDashboard("/");
  const start = within(await screen.findByRole("region", { name: "Start here" }));
  expect(start.getByText("Done: 1 node is enrolled.")).toBeInTheDocument();
  expect(start.getByRole("link", { name: "Run a first campaign" })).toHaveAttribute(
    "href",
    "/campaigns/new?cluster=1",
  );
});

it("opens the new cluster's page, which shows how to add a node", async () => {
  server.use(
    http.get("*/api/v1/clusters", () => listOf([])),
    http.post("*/api/v1/clusters", () => HttpResponse.json({ id: 1, name: "hpc1" }, { status: 201 })),
  );
  const { router, user } = openDashboard("/");
  await user.type(await screen.findByLabelText(/^Cluster name/), "hpc1");
  await user.click(screen.getByRole("button", { name: "Create cluster" }));
  await screen.findByRole("heading", { level: 1, name: /^Cluster/ });
  expect(router.state.location.pathname).toBe("/clusters/1");
});

it("hides the cluster form without permission", async () => {
  const roles = [{ role: "viewer", cluster_id: null }];
  server.use(
    http.get("*/api/v1/session", () =>
      HttpResponse.json({ principal: { kind: "user", id: 1, name: "grace", roles } }),
    ),
    http.get("*/api/v1/clusters", () => listOf([])),
  );
  openDashboard("/");
  expect(await screen.findByText(/Ask an admin to create one/)).toBeInTheDocument();
  expect(screen.queryByRole("form", { name: "New cluster" })).not.toBeInTheDocument();
});
