import { expect, it } from "vitest";
import type { SeriesChange } from "@/api/types";
import { listedChanges } from "./drawn";

const drop: SeriesChange = {
  id: 1,
  series_id: 7,
  at: "2026-08-11T10:00:00Z",
  previous_at: "2026-08-10T10:00:00Z",
  cell_id: 11,
  n_before: 60,
  n_after: 40,
  median_before: 100,
  median_after: 82,
  shift_ratio: -0.18,
  direction: "worse",
  ended_at: "2026-09-20T10:00:00Z",
  recovered_by: 2,
  p_value: 1e-5,
  words: "18.0 % lower from 11 Aug to 20 Sep 2026, recovered: 40 points against 60 before",
  found_at: "2026-08-16T10:00:00Z",
  confirmed_at: "2026-08-18T10:00:00Z",
  detector: "kernel-cpd-3",
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

it("lists a rise that ended nothing, and one that went beyond the healthy level", () => {
  const open = { ...drop, ended_at: null, recovered_by: null };
  expect(listedChanges([open, rise])).toEqual([open, rise]);
  const beyond = { ...rise, direction: "better" as const };
  expect(listedChanges([drop, beyond])).toEqual([drop, beyond]);
});
