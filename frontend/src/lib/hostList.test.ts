import { expect, it } from "vitest";
import { hostMatcher } from "./hostList";

it.each([
  ["node[001-003]", ["node001", "node003"], ["node1", "node004", "xnode001"]],
  ["n[8-11]", ["n8", "n11"], ["n08", "n12"]],
  ["n[1,4-5,09]", ["n1", "n5", "n09"], ["n9", "n2"]],
  ["n[0-10/5]", ["n0", "n10"], ["n4"]],
  ["r[1-2]n[1-2]-ib", ["r2n1-ib"], ["r3n1-ib", "r1n1"]],
  ["n.a[1-2], login1", ["n.a1", "login1"], ["nxa1", "login12"]],
])("a host list %s has its names only", (text, inside, outside) => {
  const matches = hostMatcher(text);
  expect(inside.filter((name) => matches?.(name))).toEqual(inside);
  expect(outside.filter((name) => matches?.(name))).toEqual([]);
});

it.each(["node", "", "node07"])("a word %j without ranges is no host list", (text) => {
  expect(hostMatcher(text)).toBeNull();
});

it.each(["n[", "n[a-b]", "n[3-1]", "n[1-3/0]", "[],"])(
  "an unfinished list %s has no name and is no failure",
  (text) => {
    expect(hostMatcher(text)?.("n1")).toBe(false);
  },
);
