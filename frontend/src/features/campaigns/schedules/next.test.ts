import { expect, it } from "vitest";
import type { Schedule } from "@/api/types";
import { nextFirings } from "./next";

function schedule(name: string, state: Schedule["state"], ...firings: string[]): Schedule {
  const next = firings.map((fires_at) => ({ planned_at: fires_at, fires_at }));
  return { name, state, next_firings: next } as unknown as Schedule;
}

it("lists the next firing of each active schedule, the soonest first", () => {
  const next = nextFirings([
    schedule("weekly", "active", "2026-11-28T02:00:00Z", "2026-12-05T02:00:00Z"),
    schedule("paused", "paused", "2026-11-24T02:00:00Z"),
    schedule("nightly", "active", "2026-11-25T02:00:00Z"),
    schedule("over", "active"),
  ]);
  expect(next.map((one) => one.schedule.name)).toEqual(["nightly", "weekly"]);
});
