import { describe, expect, it } from "vitest";
import type { Schedule } from "@/api/types";
import {
  ANY_HOUR,
  calendarOf,
  chooseWhen,
  cronOf,
  freeName,
  NOW,
  planWindow,
  type Repeat,
  repeatOf,
  repeatProblem,
  windowProblem,
} from "./calendar";
import { scheduleAsYaml } from "./export";

const nightly = { ...NOW, when: "cron", timeZone: "Europe/Zurich" } as const;

describe("calendarOf", () => {
  it("is undefined for a plan submitted now", () => {
    expect(calendarOf(NOW, ANY_HOUR)).toBeUndefined();
  });

  it("is a cron expression with its zone, without limits by default", () => {
    expect(calendarOf(nightly, ANY_HOUR)).toEqual({
      cron: "30 2 * * *",
      time_zone: "Europe/Zurich",
      random_offset_seconds: 0,
      ends_at: null,
      max_firings: null,
    });
  });

  it("is a monthly day in words, with an offset and an end", () => {
    const repeat = { ...nightly, when: "monthly", randomOffset: "30 min", maxFirings: 12 } as const;
    expect(calendarOf(repeat, ANY_HOUR)).toMatchObject({
      monthly: "first sunday at 02:30",
      random_offset_seconds: 1800,
      max_firings: 12,
    });
  });

  it.each(["soon", "2 d", ""])("is undefined while the random offset is %j", (randomOffset) => {
    expect(calendarOf({ ...nightly, randomOffset }, ANY_HOUR)).toBeUndefined();
    expect(repeatProblem({ ...nightly, randomOffset }, ANY_HOUR)).toBe("Correct the random offset.");
  });
});

it("restores a stored schedule", () => {
  const stored = {
    cron: "0 22 * * 5L",
    monthly: "Last Friday at 22:00",
    time_zone: "America/New_York",
    random_offset_seconds: 90,
    ends_at: "2026-12-31T23:00:00Z",
    max_firings: 3,
    missed: "run_once",
  } as Schedule;
  expect(calendarOf(repeatOf(stored), ANY_HOUR)).toEqual({
    monthly: "last friday at 22:00",
    time_zone: "America/New_York",
    random_offset_seconds: 90,
    ends_at: "2026-12-31T23:00:00.000Z",
    max_firings: 3,
  });
  expect(repeatOf(stored).missed).toBe("run_once");
});

describe("a choice of when", () => {
  const zurich: Repeat = { ...NOW, timeZone: "Europe/Zurich" };

  it("of every night writes the hours as window and their begin as cron", () => {
    const { repeat, window } = chooseWhen(zurich, ANY_HOUR, "nightly");
    expect(calendarOf(repeat, window)).toMatchObject({ cron: "0 22 * * *", time_zone: "Europe/Zurich" });
    expect(planWindow(window)).toEqual({ from: "22:00", until: "05:00", time_zone: "Europe/Zurich" });
    expect(calendarOf(repeat, { ...window, from: "21:30" })).toMatchObject({ cron: "30 21 * * *" });
    expect(repeatProblem(repeat, ANY_HOUR)).toBe("Enter the hours of the night.");
  });

  it.each([
    ["sunday", "30 2 * * 0"],
    ["monday", "30 2 * * 1"],
    ["saturday", "30 2 * * 6"],
  ])("of every week on %s writes %s", (weekday, cron) => {
    const { repeat } = chooseWhen({ ...zurich, weekday }, ANY_HOUR, "weekly");
    expect(calendarOf(repeat, ANY_HOUR)).toMatchObject({ cron });
  });

  it("other than every night leaves no night behind", () => {
    const night = chooseWhen(zurich, ANY_HOUR, "nightly");
    expect(chooseWhen(night.repeat, night.window, "now").window).toEqual(ANY_HOUR);
    const hours = { ...ANY_HOUR, from: "10:00", until: "12:00" };
    expect(chooseWhen(zurich, hours, "weekly").window).toEqual(hours);
  });

  it.each([
    ["nightly", "0 22 * * *", "22:00"],
    ["cron", "30 2 * * *", "22:00"],
    ["cron", "0 22 * * *", ""],
    ["weekly", "5 4 * * 3", ""],
    ["cron", "05 4 * * 3", ""],
    ["cron", "5 4 * * 7", ""],
    ["cron", "5 4 1 * *", ""],
  ])("is %s for the cron expression %s in a window from %j, and keeps the expression", (when, cron, from) => {
    const window = from ? { from, until: "05:00", time_zone: "Europe/Zurich" } : null;
    const schedule = { cron, time_zone: "Europe/Zurich", random_offset_seconds: 0, plan: { window } };
    const repeat = repeatOf(schedule as unknown as Schedule);
    expect(repeat.when).toBe(when);
    expect(cronOf(repeat, { from })).toBe(cron);
  });
});

describe("the hours in which runs start", () => {
  it("are unrestricted by default", () => {
    expect([planWindow(ANY_HOUR), windowProblem(ANY_HOUR)]).toEqual([null, null]);
  });

  it.each([
    ["22:00", "", "Enter both hours or neither."],
    ["", "05:00", "Enter both hours or neither."],
    ["22:00", "22:00", "Enter two different hours."],
    ["22:00", "05:00", null],
  ])("from %j until %j", (from, until, problem) => {
    expect(windowProblem({ ...ANY_HOUR, from, until })).toBe(problem);
  });
});

it("writes a schedule as YAML with its plan and without empty fields", () => {
  const plan = {
    name: "nightly",
    window: { from: "22:00", until: "05:00", time_zone: "Europe/Zurich" },
    workloads: [{ workload: "dd" }],
  };
  const body = { name: "nightly", cron: "30 2 * * *", time_zone: "Europe/Zurich", ends_at: null, plan };
  expect(scheduleAsYaml(body as unknown as Parameters<typeof scheduleAsYaml>[0])).toBe(`name: nightly
cron: "30 2 * * *"
time_zone: Europe/Zurich
plan:
  name: nightly
  workloads:
    - workload: dd
  window:
    from: "22:00"
    until: "05:00"
    time_zone: Europe/Zurich
`);
});

it("adds the first free number to a taken name, within the length that the server accepts", () => {
  expect(freeName("nightly", ["weekly"])).toBe("nightly");
  expect(freeName("nightly", ["nightly", "nightly-2"])).toBe("nightly-3");
  expect(freeName("n".repeat(63), ["n".repeat(63)])).toHaveLength(60);
});
