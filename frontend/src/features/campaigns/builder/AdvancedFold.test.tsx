import { expect, it } from "vitest";
import { differencesOf } from "./AdvancedFold";
import { differencesOf as differencesOfCalendar } from "./CalendarFold";
import { ANY_HOUR, NOW } from "./calendar";
import { EMPTY_DRAFT } from "./draft";

it("says in the fold's title what differs from an empty draft", () => {
  expect(differencesOf(EMPTY_DRAFT)).toEqual([]);
  const draft = {
    ...EMPTY_DRAFT,
    exclusive: "cluster" as const,
    cache: "remount" as const,
    quiet: { policy: "wait" as const, wait: "1 min" },
    coolDown: "30 s",
    timeLimit: "2 h",
    attemptsAllowed: 3,
    priority: 5,
    stages: [{ key: 0, variant: "xfs", pause: "" }],
    observers: ["nfs1"],
    note: "why",
  };
  expect(differencesOf(draft)).toEqual([
    "exclusive cluster",
    "cache: remount targets before reads",
    "other load: wait until the node is idle",
    "cool-down 30 s",
    "time limit 2 h",
    "3 attempts",
    "priority 5",
    "1 stage",
    "monitors nfs1",
    "a note",
  ]);
});

it("says in the fold's title which limits and hours a schedule has, except those of its night", () => {
  const hours = { ...ANY_HOUR, from: "22:00", until: "05:00" };
  expect(differencesOfCalendar(NOW, ANY_HOUR)).toEqual([]);
  expect(differencesOfCalendar(NOW, hours)).toEqual(["runs from 22:00 to 05:00"]);
  expect(differencesOfCalendar({ ...NOW, when: "nightly" }, hours)).toEqual([]);
  const limited = {
    ...NOW,
    when: "weekly" as const,
    randomOffset: "1 h",
    maxFirings: 3,
    missed: "run_once" as const,
  };
  expect(differencesOfCalendar(limited, ANY_HOUR)).toEqual([
    "random offset 1 h",
    "at most 3 campaigns",
    "missed firings run once",
  ]);
});
