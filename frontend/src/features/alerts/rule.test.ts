import { expect, it } from "vitest";
import type { AlertRule } from "@/api/types";
import { inputOf, isMute, muteEnd } from "./rule";

const RULE: AlertRule = {
  id: 3,
  cluster_id: 1,
  cluster_name: "hpc1",
  name: "slower",
  target: { id: 9, name: "scratch" },
  workload: "fio",
  metric: null,
  least_shift_ratio: 0.05,
  directions: "worse",
  channel_ids: [2],
  missing_runs: true,
  control_workload: null,
  muted_until: null,
  created_at: "2026-11-21T10:00:00Z",
  open_alerts: 4,
};

it("sends an unchanged rule with the names of its cluster and target", () => {
  expect(inputOf(RULE)).toEqual({
    cluster: "hpc1",
    name: "slower",
    target: "scratch",
    workload: "fio",
    metric: null,
    least_shift_ratio: 0.05,
    directions: "worse",
    channel_ids: [2],
    missing_runs: true,
    control_workload: null,
    muted_until: null,
  });
});

it("is muted until the end and not after", () => {
  const now = new Date("2026-11-21T10:00:00Z");
  const muted = { muted_until: muteEnd(8, now) };
  expect(muted.muted_until).toBe("2026-11-21T18:00:00.000Z");
  expect([isMute(muted, now), isMute(muted, new Date(muted.muted_until)), isMute(RULE, now)]).toEqual([
    true,
    false,
    false,
  ]);
});
