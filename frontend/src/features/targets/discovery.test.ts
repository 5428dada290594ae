import { expect, it } from "vitest";
import type { Node, Target } from "@/api/types";
import { findCandidates, suggestName } from "./discovery";

function node(id: number, mounts: Partial<Node["mounts"][number]>[]): Node {
  const usual = {
    mount_point: "/",
    source: "/dev/vda1",
    mount_options: "rw",
    total_bytes: 100,
    free_bytes: 50,
    facts: {},
  };
  return {
    id,
    name: `node-${id}`,
    mounts: mounts.map((mount) => ({ path: "/srv", fstype: "ext4", approved: true, ...usual, ...mount })),
  } as unknown as Node;
}

it("offers only mounts that the agent's configuration lets runs write to", () => {
  const found = findCandidates([node(1, [{ path: "/home", approved: false }, { path: "/srv" }])], []);
  expect(found.map(({ path }) => path)).toEqual(["/srv"]);
});

it("takes the same export on many nodes for one shared target, with the least free space seen", () => {
  const mount = { path: "/scratch", fstype: "nfs4", source: "nfs1:/scratch" };
  const found = findCandidates([node(1, [mount]), node(2, [{ ...mount, free_bytes: 20 }])], []);
  expect(found).toMatchObject([{ scope: "shared", nodes: [{ id: 1 }, { id: 2 }], smallestFreeBytes: 20 }]);
});

it("keeps different exports under one path apart", () => {
  const found = findCandidates(
    [node(1, [{ fstype: "nfs4", source: "a:/x" }]), node(2, [{ fstype: "nfs4", source: "b:/x" }])],
    [],
  );
  expect(found).toHaveLength(2);
});

it("takes a local directory on many nodes for one target that each node has for itself", () => {
  const found = findCandidates([node(1, [{ source: "/dev/vda1" }]), node(2, [{ source: "/dev/sda1" }])], []);
  expect(found).toMatchObject([{ scope: "node", nodes: [{ id: 1 }, { id: 2 }] }]);
});

it("leaves out what is a target already", () => {
  const targets = [{ mounts: [{ node_id: 1, path: "/srv" }] }] as unknown as Target[];
  expect(findCandidates([node(1, [{}]), node(2, [{}])], targets)).toMatchObject([{ nodes: [{ id: 2 }] }]);
});

it("suggests a name of its own for each, also beside the targets that there are", () => {
  const mounts = [
    { path: "/scratch", fstype: "ext4" },
    { path: "/scratch", fstype: "xfs" },
    { path: "/data", fstype: "xfs" },
  ];
  const nodes = mounts.map((mount, id) => node(id, [mount]));
  const targets = ["data", "data-xfs"].map((name) => ({ name, mounts: [] })) as unknown as Target[];
  const names = findCandidates(nodes, targets).map(({ suggestedName }) => suggestedName);
  expect(names).toEqual(["scratch", "scratch-xfs", "data-xfs-2"]);
});

it("suggests a name that the server accepts", () => {
  expect(suggestName("/srv/bench")).toBe("srv-bench");
  expect(suggestName("/mnt/data (old)/")).toBe("mnt-data-old");
  expect(suggestName("/")).toBe("root");
});
