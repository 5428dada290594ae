import { t } from "@lingui/core/macro";
import * as z from "zod/mini";
import type { Calendar, CampaignPlan, Schedule, SchedulePlan } from "@/api/types";
import { fromLocalTime, inputTime, timeZone, WEEKDAYS } from "@/lib/time";
import { durationProblem, exactSeconds, parseSeconds } from "@/lib/units";

/** A number, or "" while the input is empty. */
export const Count = z.union([z.number(), z.literal("")]);
export type Count = z.infer<typeof Count>;

/** Hours as `22:00`. Both empty: runs may start at any hour. */
export const DraftWindow = z.object({ from: z.string(), until: z.string(), timeZone: z.string() });
export type DraftWindow = z.infer<typeof DraftWindow>;

export const Repeat = z.object({
  /** Once now, or repeatedly. `nightly` starts with the window; `cron` is an expression that no other choice writes. */
  when: z.enum(["now", "nightly", "weekly", "monthly", "cron"]),
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

export const NIGHT = { from: "22:00", until: "05:00" };

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
  const stored: Repeat = {
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
  return schedule.monthly ? stored : asPreset(stored, schedule.plan?.window ?? null);
}

const EACH_DAY = /^(\d{1,2}) (\d{1,2}) \* \* (\*|\d)$/;

/** Return the choice that writes exactly this cron expression, and the expression itself otherwise. */
function asPreset(stored: Repeat, window: CampaignPlan["window"]): Repeat {
  const [, minute = "", hour = "", day = ""] = EACH_DAY.exec(stored.cron) ?? [];
  const at = `${hour.padStart(2, "0")}:${minute.padStart(2, "0")}`;
  const isNight = day === "*" && window?.from === at && window.time_zone === stored.timeZone;
  const weekday = WEEKDAYS[(Number(day) + WEEKDAYS.length - 1) % WEEKDAYS.length] ?? stored.weekday;
  const preset: Repeat = isNight
    ? { ...stored, when: "nightly" }
    : { ...stored, when: "weekly", weekday, at };
  return cronOf(preset, { from: at }) === stored.cron ? preset : stored;
}

/** Return the cron expression of a schedule; empty if it has none. */
export function cronOf({ when, cron, weekday, at }: Repeat, { from }: Pick<DraftWindow, "from">): string {
  const [hour, minute] = (when === "nightly" ? from : at).split(":").map(Number);
  const day =
    when === "nightly" ? "*" : ((WEEKDAYS as readonly string[]).indexOf(weekday) + 1) % WEEKDAYS.length;
  if (when === "cron") return cron;
  return when === "nightly" || when === "weekly" ? `${minute} ${hour} * * ${day}` : "";
}

/** Return repeat and window after a choice. Only nights need a window; they also leave none behind. */
export function chooseWhen(repeat: Repeat, window: DraftWindow, when: Repeat["when"]) {
  const isNight = when === "nightly";
  const others = repeat.when === "nightly" ? ANY_HOUR : window;
  const night = window.from === "" || window.until === "" ? { ...window, ...NIGHT } : window;
  return {
    repeat: { ...repeat, when, cron: cronOf(repeat, window) || repeat.cron },
    window: isNight ? { ...night, timeZone: repeat.timeZone } : others,
  };
}

/** Return why the calendar is invalid, or null. The server checks the rest in its preview. */
export function repeatProblem(repeat: Repeat, window: Pick<DraftWindow, "from">): string | null {
  if (repeat.when === "now") return null;
  if (repeat.when === "nightly" && window.from === "") return t`Enter the hours of the night.`;
  if (repeat.when !== "nightly" && repeat.when !== "cron" && repeat.at === "")
    return t`Enter the time of the start.`;
  return offsetProblem(repeat.randomOffset) && t`Correct the random offset.`;
}

export function offsetProblem(text: string): string | null {
  return durationProblem(text, (seconds) => seconds <= LONGEST_OFFSET, t`Enter at most one day.`);
}

/** Return the calendar for the API; undefined if the plan is submitted once or the calendar is incomplete. */
export function calendarOf(repeat: Repeat, window: DraftWindow): Calendar | undefined {
  if (repeat.when === "now" || repeatProblem(repeat, window) !== null) return undefined;
  return {
    ...(repeat.when === "monthly"
      ? { monthly: `${repeat.place} ${repeat.weekday} at ${repeat.at}` }
      : { cron: cronOf(repeat, window) }),
    time_zone: repeat.timeZone,
    random_offset_seconds: parseSeconds(repeat.randomOffset),
    ends_at: repeat.endsAt === "" ? null : fromLocalTime(repeat.endsAt),
    max_firings: repeat.maxFirings === "" ? null : repeat.maxFirings,
  };
}

/** Return the schedule of a plan; undefined if it is submitted once, or without a name or a complete calendar. */
export function scheduleOf(
  plan: CampaignPlan,
  { repeat, window }: { readonly repeat: Repeat; readonly window: DraftWindow },
  name: string,
): SchedulePlan | undefined {
  const calendar = name ? calendarOf(repeat, window) : undefined;
  return calendar && { name, ...calendar, missed: repeat.missed, plan };
}

/** Room for a number in the server's 63 characters. */
const LONGEST_BASE = 58;

/** Return the name, with a number like that of a duplicated schedule if it is taken. */
export function freeName(name: string, taken: readonly string[]): string {
  let free = name;
  for (let number = 2; taken.includes(free); number += 1) free = `${name.slice(0, LONGEST_BASE)}-${number}`;
  return free;
}
