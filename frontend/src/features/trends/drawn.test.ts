import { expect, it } from "vitest";
import type { Points, SeriesAnalysis, SeriesChange } from "@/api/types";
import { around, listedChanges, toLine } from "./drawn";

const drop: SeriesChange = {
  id: 1,
  series_id: 7,
  at: "2026-08-11T10:00:00Z",
  previous_at: "2026-08-10T10:00:00Z",
  cell_id: 11,
  n_before: 60,
  n_after: 40,
  median_before: 100,
  reasons: [],
  median_after: 82,
  shift_ratio: -0.18,
  direction: "worse",
  ended_at: "2026-09-20T10:00:00Z",
  is_over: false,
  recovered_by: 2,
  p_value: 1e-5,
  words: "18.0 % lower from 11 Aug to 20 Sep 2026, recovered (40 points after, 60 before)",
  found_at: "2026-08-16T10:00:00Z",
  confirmed_at: "2026-08-18T10:00:00Z",
  detector: "kernel-cpd-4",
};
const rise: SeriesChange = {
  ...drop,
  id: 2,
  at: "2026-09-20T10:00:00Z",
  direction: "recovered",
  ended_at: null,
  recovered_by: null,
};

it("lists a drop and its recovery as one change", () => {
  expect(listedChanges([drop, rise])).toEqual([drop]);
});

it("lists a rise without a previous drop, and one beyond the healthy level", () => {
  const open = { ...drop, ended_at: null, recovered_by: null };
  expect(listedChanges([open, rise])).toEqual([open, rise]);
  const beyond = { ...rise, direction: "better" as const };
  expect(listedChanges([drop, beyond])).toEqual([drop, beyond]);
});

it("draws a shift that is over as a level with both ends", () => {
  const over = { ...drop, is_over: true, recovered_by: null };
  const analysis = { changes: [over], suspect: null, drift: null } as unknown as SeriesAnalysis;
  const points = { series: { id: 7 }, at: [], gaps: [] } as unknown as Points;
  const { changes } = toLine({ name: "write", points }, new Map([[7, analysis]]));
  expect(changes.map(({ at, before, after }) => [at, before, after])).toEqual([
    [drop.at, 100, 82],
    [drop.ended_at, 82, 100],
  ]);
});

it("keeps gaps and failures around a time, and everything after the newest point", () => {
  const day = (count: number) => new Date(Date.UTC(2026, 0, 1 + count)).toISOString();
  const at = Array.from({ length: 300 }, (_, count) => day(count));
  const numbers = at.map((_, count) => count);
  const gaps = [
    { since: day(10), until: day(11) },
    { since: day(150), until: day(151) },
    { since: day(209), until: day(210) },
    { since: day(299), until: null },
  ];
  const failures = [20, 150, 250, 299.5].map((count) => ({ at: day(count) }));
  const columns = Object.fromEntries(
    ["median", "low", "high", "n", "variation_ratio", "robust_spread_ratio", "cell_id", "campaign_id"].map(
      (name) => [name, numbers],
    ),
  );
  const points = {
    at,
    ...columns,
    flags: at.map(() => []),
    usual_flags: at.map(() => []),
    gaps,
    failures,
  } as unknown as Points;
  const within = around(points, day(150));
  expect([within.at[0], within.at.at(-1)]).toEqual([day(90), day(209)]);
  expect([within.gaps, within.failures]).toEqual([[gaps[1]], [failures[1]]]);
  expect(within.variation_ratio).toEqual(within.median);
  const newest = around(points, day(299));
  expect([newest.gaps, newest.failures]).toEqual([[gaps[3]], [failures[2], failures[3]]]);
});

it("shades a drop until it recovered, and labels the recovery as one", () => {
  const analysis = {
    changes: [drop, rise],
    events: [],
    suspect: null,
    drift: null,
  } as unknown as SeriesAnalysis;
  const points = { series: { id: 7 }, at: [], gaps: [] } as unknown as Points;
  const line = toLine({ name: "write", points }, new Map([[7, analysis]]));
  expect(line.incidents).toEqual([{ since: drop.at, until: drop.ended_at }]);
  expect(line.changes.map(({ isRecovery }) => isRecovery)).toEqual([false, true]);
});
