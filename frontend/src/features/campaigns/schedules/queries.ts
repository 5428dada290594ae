import { mutationOptions, queryOptions } from "@tanstack/react-query";
import { get, getEvery, post, put, refetch, remove } from "@/api/requests";
import type { Calendar, SchedulePlan } from "@/api/types";

export const schedulesQuery = queryOptions({
  queryKey: ["schedule", "list"],
  queryFn: ({ signal }) => getEvery("/api/v1/schedules", { signal }),
});

export function scheduleQuery(scheduleId: number) {
  return queryOptions({
    queryKey: ["schedule", scheduleId],
    queryFn: ({ signal }) =>
      get("/api/v1/schedules/{schedule_id}", { path: { schedule_id: scheduleId }, signal }),
  });
}

export function calendarQuery(calendar: Calendar) {
  return queryOptions({
    queryKey: ["preview", "calendar", calendar],
    queryFn: ({ signal }) => post("/api/v1/schedules/preview", { body: calendar, signal }),
    placeholderData: (previous) => previous,
    retry: false,
  });
}

interface Saving {
  readonly body: SchedulePlan;
  /** The schedule to replace; undefined creates one. */
  readonly scheduleId: number | undefined;
}

export const saveSchedule = mutationOptions({
  meta: { isShownInPlace: true },
  mutationFn: ({ body, scheduleId }: Saving) =>
    scheduleId === undefined
      ? post("/api/v1/schedules", { body })
      : put("/api/v1/schedules/{schedule_id}", { path: { schedule_id: scheduleId }, body }),
  onSuccess: refetch(["schedule"]),
});

export type Step = "pause" | "resume" | "run" | "duplicate";

export const stepSchedule = mutationOptions({
  mutationFn: async ({ scheduleId, step }: { scheduleId: number; step: Step }): Promise<void> => {
    await post(`/api/v1/schedules/{schedule_id}/${step}`, { path: { schedule_id: scheduleId } });
  },
  onSuccess: refetch(["schedule"]),
});

export const removeSchedule = mutationOptions({
  mutationFn: (scheduleId: number) =>
    remove("/api/v1/schedules/{schedule_id}", { path: { schedule_id: scheduleId } }),
  onSuccess: refetch(["schedule"]),
});
