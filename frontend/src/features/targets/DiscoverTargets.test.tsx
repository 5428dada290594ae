import { renderWithApp } from "@testing/render";
import { server } from "@testing/server";
import { screen } from "@testing-library/react";
import { HttpResponse, http } from "msw";
import { expect, it, vi } from "vitest";
import DiscoverTargets from "./DiscoverTargets";

function place(node_id: number, path: string) {
  return { node_id, node_name: `n${node_id}`, path, source: "filer:/a", total_bytes: 2, free_bytes: 1 };
}

const SHARED = { scope: "shared", fstype: "nfs4", identity: "nfs:10.0.0.1:/a", suggested_name: "scratch" };

it("creates one target with the path of each node, and adds nodes to existing targets", async () => {
  const said: unknown[] = [];
  const candidates = [
    { ...SHARED, joins: null, places: [place(1, "/scratch"), place(2, "/work")] },
    { ...SHARED, joins: { id: 7, name: "home" }, places: [place(3, "/home3")] },
  ];
  server.use(
    http.get("*/api/v1/clusters/1/candidates", () => HttpResponse.json(candidates)),
    http.post("*/api/v1/targets", async ({ request }) => {
      said.push(await request.json());
      return HttpResponse.json({}, { status: 201 });
    }),
    http.patch("*/api/v1/targets/7", async ({ request }) => {
      said.push(await request.json());
      return HttpResponse.json({});
    }),
  );
  const onDone = vi.fn();
  const { user } = renderWithApp(
    <DiscoverTargets clusterId={1} hasNodes onDone={onDone} onStart={() => undefined} />,
  );
  await user.click(await screen.findByRole("checkbox", { name: "/scratch" }));
  expect(screen.getByText("n1, n2 at /work")).toBeInTheDocument();
  await user.click(screen.getByRole("checkbox", { name: "/home3" }));
  expect(screen.getByText("joins home")).toBeInTheDocument();
  await user.click(screen.getByRole("button", { name: "Create 2 targets" }));
  await vi.waitFor(() => expect(onDone).toHaveBeenCalled());
  expect(said).toEqual([
    expect.objectContaining({
      name: "scratch",
      path: "/scratch",
      scope: "shared",
      nodes: [1],
      elsewhere: [{ node_id: 2, path: "/work" }],
    }),
    { elsewhere: [{ node_id: 3, path: "/home3" }] },
  ]);
});
