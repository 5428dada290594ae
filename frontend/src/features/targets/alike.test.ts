import { expect, it } from "vitest";
import type { TargetPlace } from "@/api/types";
import { nodesOf, together } from "./alike";

function place(name: string, disks: number): TargetPlace {
  return { node_name: name, mount: { facts: { "md.disk_count": disks } } } as unknown as TargetPlace;
}

it("groups places with the same facts, in order of first appearance", () => {
  const places = [place("n1", 5), place("n2", 4), place("n3", 5)];
  expect(together(places, ({ mount }) => mount?.facts).map(nodesOf)).toEqual(["n1, n3", "n2"]);
});

it("names the first few of many nodes", () => {
  const places = Array.from({ length: 9 }, (_, number) => place(`n${number + 1}`, 5));
  expect(nodesOf(places)).toBe("n1, n2, n3, n4 and 5 more");
});
