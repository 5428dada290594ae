/** Time range of trends, in the address. */

import { t } from "@lingui/core/macro";
import { dayBegin, formatDay, localTime } from "@/lib/time";
import type { Span } from "@/plots/timeAxis";

export const PRESET_DAYS = [7, 30, 90, 365] as const;
const DAY_MILLISECONDS = 86_400_000;

/** The last days up to now. It starts at midnight, so that it stays the same during the day. */
export function presetSpan(days: number, now: number): Span {
  return { from: dayBegin(localTime(now - days * DAY_MILLISECONDS).slice(0, 10)) ?? undefined };
}

/** The number of days if the span is a preset, 0 for everything, else undefined. */
export function presetOf({ from, to }: Span, now: number): number | undefined {
  if (to !== undefined) return undefined;
  if (from === undefined) return 0;
  return PRESET_DAYS.find((days) => presetSpan(days, now).from === from);
}

/** For example `1 Aug 2026 – 20 Sep 2026`. */
export function spanWords({ from, to }: Span): string {
  const until = to === undefined ? t`today` : formatDay(to);
  return from === undefined ? t`until ${until}` : `${formatDay(from)} – ${until}`;
}
