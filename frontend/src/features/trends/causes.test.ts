import { expect, it } from "vitest";
import type { SeriesAnalysis } from "@/api/types";
import { causeOf } from "./causes";

function events(...found: { kind: string; text: string; change_id: number | null }[]) {
  return found.map(({ change_id, ...event }) => ({
    change_id,
    event,
  })) as unknown as SeriesAnalysis["events"];
}

it("names the event that a user added at the change, else the shortest difference that runs found", () => {
  const found = {
    kind: "environment",
    text: "mount.options: rw,hard -> ro,hard; nfs.rsize: 4 -> 1",
    change_id: 7,
  };
  expect(causeOf({ id: 7 }, events(found))).toBe("nfs.rsize 4 → 1");
  const added = { kind: "manual", text: "OST0007 taken out of service", change_id: 7 };
  expect(causeOf({ id: 7 }, events(found, added))).toBe("OST0007 taken out of service");
});

it("names nothing of another change, and shortens a long text", () => {
  expect(causeOf({ id: 7 }, events({ kind: "manual", text: "later", change_id: 8 }))).toBeNull();
  expect(causeOf({ id: 7 }, undefined)).toBeNull();
  const long = { kind: "manual", text: "x".repeat(80), change_id: 7 };
  expect(causeOf({ id: 7 }, events(long))).toBe(`${"x".repeat(47)}…`);
});
