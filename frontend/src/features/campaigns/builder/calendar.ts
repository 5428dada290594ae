/** The draft's hours and days: the window in which runs may start, and the calendar by which the plan is submitted. */

import { t } from "@lingui/core/macro";
import * as z from "zod/mini";
import type { Calendar, CampaignPlan, Schedule } from "@/api/types";
import { fromLocalTime, inputTime, timeZone } from "@/lib/time";
import { durationProblem, exactSeconds, parseSeconds } from "@/lib/units";

/** A number, or nothing while it is being typed anew. */
export const Count = z.union([z.number(), z.literal("")]);
export type Count = z.infer<typeof Count>;

/** Hours as `22:00`; both empty: runs may start at any hour. */
export const DraftWindow = z.object({ from: z.string(), until: z.string(), timeZone: z.string() });
export type DraftWindow = z.infer<typeof DraftWindow>;

export const Repeat = z.object({
  /** Now and once, or on a calendar. */
  when: z.enum(["now", "cron", "monthly"]),
  cron: z.string(),
  place: z.string(),
  weekday: z.string(),
  at: z.string(),
  timeZone: z.string(),
  randomOffset: z.string(),
  /** A local date and time, or empty. */
  endsAt: z.string(),
  /** Empty: no end. */
  maxFirings: Count,
  missed: z.enum(["skip", "run_once"]),
});
export type Repeat = z.infer<typeof Repeat>;

/** The schedule that is changed, with the draft of its calendar; its plan may be called otherwise. */
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

/** The draft of a plan's window. */
export function windowOf({ window }: CampaignPlan): DraftWindow {
  return window ? { from: window.from, until: window.until, timeZone: window.time_zone } : ANY_HOUR;
}

/** The window as a plan has it. */
export function planWindow({
  from,
  until,
  timeZone: zone,
}: DraftWindow): NonNullable<CampaignPlan["window"]> | null {
  return from === "" && until === "" ? null : { from, until, time_zone: zone };
}

/** Why the window is none, or null. */
export function windowProblem({ from, until }: DraftWindow): string | null {
  if ((from === "") !== (until === "")) return t`Give both hours, or none.`;
  return from !== "" && from === until ? t`Give two different hours.` : null;
}

/** The draft of a stored schedule's calendar. */
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

/** Why the calendar cannot be sent, or null; the rest the server judges in its preview. */
export function repeatProblem(repeat: Repeat): string | null {
  if (repeat.when === "now") return null;
  return offsetProblem(repeat.randomOffset) && t`Correct the random offset.`;
}

export function offsetProblem(text: string): string | null {
  return durationProblem(text, (seconds) => seconds <= LONGEST_OFFSET, t`Give at most a day.`);
}

/** The calendar as the server takes it; undefined where the plan is submitted once and now, or it is not complete. */
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
