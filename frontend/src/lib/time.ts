/** Times for a person; stored times are UTC, shown ones in the reader's own zone. */

import { formatDuration } from "./units";

const DAY_SECONDS = 86_400;
/** Clocks of server and browser differ a little: so far ahead is still now. */
const CLOCK_SKEW_SECONDS = 30;
const dateAndTime = new Intl.DateTimeFormat("en-GB", { dateStyle: "medium", timeStyle: "short" });
const logTime = new Intl.DateTimeFormat("en-GB", {
  day: "numeric",
  month: "short",
  hour: "2-digit",
  minute: "2-digit",
  second: "2-digit",
});
const exactTime = new Intl.DateTimeFormat("en-GB", { dateStyle: "full", timeStyle: "long" });

/** `just now`, `3 min ago` within a day, else `21 Nov 2026, 10:46`. */
export function formatWhen(iso: string, nowMilliseconds: number): string {
  const ageSeconds = (nowMilliseconds - Date.parse(iso)) / 1000;
  if (ageSeconds < -CLOCK_SKEW_SECONDS || ageSeconds >= DAY_SECONDS)
    return dateAndTime.format(Date.parse(iso));
  if (ageSeconds < 10) return "just now";
  if (ageSeconds < 60) return `${Math.floor(ageSeconds)} s ago`;
  const largest = formatDuration(
    ageSeconds < 3600 ? Math.floor(ageSeconds / 60) * 60 : Math.floor(ageSeconds / 3600) * 3600,
  );
  return `${largest} ago`;
}

/** A moment by the clocks of a zone: `Sun, 29 Mar 2026, 03:00 GMT+2`. */
export function formatFiring(iso: string, zone: string): string {
  return new Intl.DateTimeFormat("en-GB", {
    weekday: "short",
    day: "numeric",
    month: "short",
    year: "numeric",
    hour: "2-digit",
    minute: "2-digit",
    timeZone: zone,
    timeZoneName: "shortOffset",
  }).format(Date.parse(iso));
}

/** The time in full, with its zone, for a hover. */
export function formatExactTime(iso: string): string {
  return exactTime.format(Date.parse(iso));
}

/** The time to the second, for what happened in quick succession: `21 Nov, 14:07:15`. */
export function formatLogTime(at: string | number): string {
  return logTime.format(new Date(at));
}

/** Seconds from `start` to a moment; 0 where the clocks of server and browser disagree about the order. */
export function elapsedSeconds(start: string, untilMilliseconds: number): number {
  return Math.max(0, (untilMilliseconds - Date.parse(start)) / 1000);
}

/** The reader's clock at a moment, without a zone: for plotly, which passes over the offset of a time that has one. */
export function localTime(at: string | number): string {
  const moment = new Date(at);
  const aheadMilliseconds = moment.getTimezoneOffset() * -60_000;
  return new Date(moment.getTime() + aheadMilliseconds).toISOString().slice(0, -1);
}

/** The zone of the reader's clock, for instance `Europe/Berlin`. */
export function timeZone(): string {
  return new Intl.DateTimeFormat().resolvedOptions().timeZone;
}
