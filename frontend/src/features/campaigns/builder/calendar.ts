import { t } from "@lingui/core/macro";
import * as z from "zod/mini";
import type { Calendar, CampaignPlan, Schedule } from "@/api/types";
import { fromLocalTime, inputTime, timeZone } from "@/lib/time";
import { durationProblem, exactSeconds, parseSeconds } from "@/lib/units";

/** A number, or "" while the input is empty. */
export const Count = z.union([z.number(), z.literal("")]);
export type Count = z.infer<typeof Count>;

/** Hours as `22:00`. Both empty: runs may start at any hour. */
export const DraftWindow = z.object({ from: z.string(), until: z.string(), timeZone: z.string() });
export type DraftWindow = z.infer<typeof DraftWindow>;

export const Repeat = z.object({
  /** Once now, or repeatedly. */
  when: z.enum(["now", "cron", "monthly"]),
  cron: z.string(),
  place: z.string(),
  weekday: z.string(),
  at: z.string(),
  timeZone: z.string(),
  randomOffset: z.string(),
  /** A local date and time, or empty. */
  endsAt: z.string(),
  /** Empty: no limit. */
  maxFirings: Count,
  missed: z.enum(["skip", "run_once"]),
});
export type Repeat = z.infer<typeof Repeat>;

/** The schedule being edited, with the draft of its calendar. Its plan may have another name. */
export interface StoredSchedule {
  readonly id: number;
  readonly name: string;
  readonly repeat: Repeat;
}

export const PLACES = ["first", "second", "third", "fourth", "last"] as const;

const LONGEST_OFFSET = 86_400;

export const ANY_HOUR: DraftWindow = { from: "", until: "", timeZone: timeZone() };

export const NOW: Repeat = {
  when: "now",
  cron: "30 2 * * *",
  place: "first",
  weekday: "sunday",
  at: "02:30",
  timeZone: timeZone(),
  randomOffset: "0 s",
  endsAt: "",
  maxFirings: "",
  missed: "skip",
};

export function windowOf({ window }: CampaignPlan): DraftWindow {
  return window ? { from: window.from, until: window.until, timeZone: window.time_zone } : ANY_HOUR;
}

export function planWindow({
  from,
  until,
  timeZone: zone,
}: DraftWindow): NonNullable<CampaignPlan["window"]> | null {
  return from === "" && until === "" ? null : { from, until, time_zone: zone };
}

/** Return why the window is invalid, or null. */
export function windowProblem({ from, until }: DraftWindow): string | null {
  if ((from === "") !== (until === "")) return t`Enter both hours or neither.`;
  return from !== "" && from === until ? t`Enter two different hours.` : null;
}

export function repeatOf(schedule: Schedule): Repeat {
  const [place = NOW.place, weekday = NOW.weekday] = schedule.monthly?.toLowerCase().split(/\s+/) ?? [];
  return {
    when: schedule.monthly ? "monthly" : "cron",
    cron: schedule.monthly ? NOW.cron : schedule.cron,
    place,
    weekday,
    at: schedule.monthly?.slice(-5) ?? NOW.at,
    timeZone: schedule.time_zone,
    randomOffset: exactSeconds(schedule.random_offset_seconds),
    endsAt: schedule.ends_at ? inputTime(schedule.ends_at) : "",
    maxFirings: schedule.max_firings ?? "",
    missed: schedule.missed,
  };
}

/** Return why the calendar is invalid, or null. The server checks the rest in its preview. */
export function repeatProblem(repeat: Repeat): string | null {
  if (repeat.when === "now") return null;
  return offsetProblem(repeat.randomOffset) && t`Correct the random offset.`;
}

export function offsetProblem(text: string): string | null {
  return durationProblem(text, (seconds) => seconds <= LONGEST_OFFSET, t`Enter at most one day.`);
}

/** Return the calendar for the API; undefined if the plan is submitted once or the calendar is incomplete. */
export function calendarOf(repeat: Repeat): Calendar | undefined {
  if (repeat.when === "now" || repeatProblem(repeat) !== null) return undefined;
  return {
    ...(repeat.when === "cron"
      ? { cron: repeat.cron }
      : { monthly: t`${repeat.place} ${repeat.weekday} at ${repeat.at}` }),
    time_zone: repeat.timeZone,
    random_offset_seconds: parseSeconds(repeat.randomOffset),
    ends_at: repeat.endsAt === "" ? null : fromLocalTime(repeat.endsAt),
    max_firings: repeat.maxFirings === "" ? null : repeat.maxFirings,
  };
}
