import type { ListedSchedule } from "@/api/types";

export interface NextFiring {
  readonly at: string;
  readonly schedule: ListedSchedule;
}

/** Return the next firing of each active schedule, soonest first. */
export function nextFirings(schedules: readonly ListedSchedule[]): NextFiring[] {
  return schedules
    .filter(({ state }) => state === "active")
    .flatMap((schedule) => {
      const at = schedule.next_firings[0]?.fires_at;
      return at === undefined ? [] : [{ at, schedule }];
    })
    .toSorted((a, b) => Date.parse(a.at) - Date.parse(b.at));
}
