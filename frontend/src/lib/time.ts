/** Formatting and parsing of times. Stored times are UTC, displayed ones are in the user's zone. */

import { t } from "@lingui/core/macro";
import { preferences } from "./preferences";
import { formatDuration } from "./units";

export const WEEKDAYS = [
  "monday",
  "tuesday",
  "wednesday",
  "thursday",
  "friday",
  "saturday",
  "sunday",
] as const;

const DAY_SECONDS = 86_400;
/** Tolerance for clock differences between server and browser. */
const CLOCK_SKEW_SECONDS = 30;
const dateAndTime = inShownZone("en-GB", { dateStyle: "medium", timeStyle: "short" });
const day = inShownZone("en-GB", { dateStyle: "medium" });
const logTime = inShownZone("en-GB", {
  day: "numeric",
  month: "short",
  hour: "2-digit",
  minute: "2-digit",
  second: "2-digit",
});
const exactTime = inShownZone("en-GB", { dateStyle: "full", timeStyle: "long" });
/** The Swedish locale formats as `2026-11-21 10:46:00`. */
const sortable = inShownZone("sv-SE", { dateStyle: "short", timeStyle: "medium" });

/** Cached format in the displayed time zone. */
function inShownZone(locale: string, options: Intl.DateTimeFormatOptions): (at: number) => string {
  let zone: string | null | undefined;
  let made: Intl.DateTimeFormat;
  return (at) => {
    const wanted = preferences().zone;
    if (zone !== wanted) {
      made = new Intl.DateTimeFormat(locale, { ...options, ...(wanted !== null && { timeZone: wanted }) });
      zone = wanted;
    }
    return withShortMonth(made.format(at));
  };
}

/** Three-letter months like the server's texts; British English abbreviates September with four. */
function withShortMonth(written: string): string {
  return written.replace(/\bSept\b/, "Sep");
}

/** `just now`, `3 min ago` within a day, else `21 Nov 2026, 10:46`. */
export function formatWhen(iso: string, nowMilliseconds: number): string {
  const ageSeconds = (nowMilliseconds - Date.parse(iso)) / 1000;
  if (ageSeconds < -CLOCK_SKEW_SECONDS || ageSeconds >= DAY_SECONDS) return dateAndTime(Date.parse(iso));
  if (ageSeconds < 10) return t`just now`;
  if (ageSeconds < 60) return `${Math.floor(ageSeconds)} s ago`;
  const largest = formatDuration(
    ageSeconds < 3600 ? Math.floor(ageSeconds / 60) * 60 : Math.floor(ageSeconds / 3600) * 3600,
  );
  return `${largest} ago`;
}

/** `21 Nov 2026`. */
export function formatDay(iso: string): string {
  return day(Date.parse(iso));
}

/** A time in a given zone: `Sun, 29 Mar 2026, 03:00 GMT+2`. */
export function formatFiring(iso: string, zone: string): string {
  const format = new Intl.DateTimeFormat("en-GB", {
    weekday: "short",
    day: "numeric",
    month: "short",
    year: "numeric",
    hour: "2-digit",
    minute: "2-digit",
    timeZone: zone,
    timeZoneName: "shortOffset",
  });
  return withShortMonth(format.format(Date.parse(iso)));
}

/** Full time with zone. */
export function formatExactTime(iso: string): string {
  return exactTime(Date.parse(iso));
}

/** Time with seconds: `21 Nov, 14:07:15`. */
export function formatLogTime(at: string | number): string {
  return logTime(new Date(at).getTime());
}

/** Seconds since `start`; at least 0, since clocks of server and browser differ. */
export function elapsedSeconds(start: string, untilMilliseconds: number): number {
  return Math.max(0, (untilMilliseconds - Date.parse(start)) / 1000);
}

/** Local time without zone for plotly, which ignores offsets. */
export function localTime(at: string | number): string {
  const moment = new Date(at);
  if (preferences().zone !== null) {
    const [date, clock] = sortable(moment.getTime()).split(" ");
    return `${date}T${clock}${moment.toISOString().slice(19, -1)}`;
  }
  const aheadMilliseconds = moment.getTimezoneOffset() * -60_000;
  return new Date(moment.getTime() + aheadMilliseconds).toISOString().slice(0, -1);
}

/** Local time for inputs of type datetime-local. */
export function inputTime(iso: string): string {
  return localTime(iso).slice(0, 16);
}

/**
 * Converts local time to UTC. Plotly writes `2026-11-21 10:46:00.5` or only the date; inputs write
 * `2026-11-21T10:46`.
 */
export function fromLocalTime(text: string): string {
  const said = parseAsUtc(text);
  // The offset at the guess is right except for the hours around a clock change.
  const guess = said - (parseAsUtc(localTime(said)) - said);
  const missed = parseAsUtc(localTime(guess)) - said;
  return new Date(guess - missed).toISOString();
}

/** Start of a local day such as `2026-11-21` in UTC; null for an invalid day. */
export function dayBegin(day: string | undefined): string | null {
  return momentOf(day, "00:00:00.000");
}

/** End of the day: one microsecond, the server's resolution, before the next. */
export function dayEnd(day: string | undefined): string | null {
  return momentOf(day, "23:59:59.999")?.replace("Z", "999Z") ?? null;
}

function momentOf(day: string | undefined, time: string): string | null {
  return Number.isNaN(Date.parse(`${day}T${time}Z`)) ? null : fromLocalTime(`${day}T${time}`);
}

function parseAsUtc(text: string): number {
  const [date, clock = "00:00"] = text.split(/[ T]/);
  const full = clock.length === 2 ? `${clock}:00` : clock;
  return Date.parse(`${date}T${full}Z`);
}

/** Time zone of this computer, for example `Europe/Berlin`. */
export function timeZone(): string {
  return new Intl.DateTimeFormat().resolvedOptions().timeZone;
}

/** Time zone in which times are displayed and entered. */
export function shownTimeZone(): string {
  return preferences().zone ?? timeZone();
}
