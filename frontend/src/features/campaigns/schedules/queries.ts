/** Requests of schedules: plans that are submitted by a calendar. */

import { mutationOptions, type QueryClient, queryOptions } from "@tanstack/react-query";
import { answer, api } from "@/api/client";
import { everyItem } from "@/api/pages";
import type { Calendar, SchedulePlan } from "@/api/types";

export const schedulesQuery = queryOptions({
  queryKey: ["schedule", "list"],
  queryFn: ({ signal }) =>
    everyItem((query) => answer(api.GET("/api/v1/schedules", { params: { query }, signal }))),
});

export function scheduleQuery(scheduleId: number) {
  return queryOptions({
    queryKey: ["schedule", scheduleId],
    queryFn: ({ signal }) =>
      answer(
        api.GET("/api/v1/schedules/{schedule_id}", { params: { path: { schedule_id: scheduleId } }, signal }),
      ),
  });
}

/** The next firings of a calendar that is not stored. */
export function calendarQuery(calendar: Calendar) {
  return queryOptions({
    queryKey: ["preview", "calendar", calendar],
    queryFn: ({ signal }) => answer(api.POST("/api/v1/schedules/preview", { body: calendar, signal })),
    placeholderData: (previous) => previous,
    retry: false,
  });
}

function refetch(client: QueryClient): Promise<void> {
  return client.invalidateQueries({ queryKey: ["schedule"] });
}

interface Saving {
  readonly body: SchedulePlan;
  /** The schedule that it replaces; undefined: it is a new one. */
  readonly scheduleId: number | undefined;
}

export const saveSchedule = mutationOptions({
  meta: { isShownInPlace: true },
  mutationFn: ({ body, scheduleId }: Saving) =>
    answer(
      scheduleId === undefined
        ? api.POST("/api/v1/schedules", { body })
        : api.PUT("/api/v1/schedules/{schedule_id}", { params: { path: { schedule_id: scheduleId } }, body }),
    ),
  onSuccess: (_schedule, _body, _result, { client }) => refetch(client),
});

/** What a schedule can be made to do at once. */
export type Step = "pause" | "resume" | "run" | "duplicate";

const STEPS = {
  pause: "/api/v1/schedules/{schedule_id}/pause",
  resume: "/api/v1/schedules/{schedule_id}/resume",
  run: "/api/v1/schedules/{schedule_id}/run",
  duplicate: "/api/v1/schedules/{schedule_id}/duplicate",
} as const satisfies Record<Step, string>;

export const stepSchedule = mutationOptions({
  mutationFn: async ({ scheduleId, step }: { scheduleId: number; step: Step }): Promise<void> => {
    await answer(api.POST(STEPS[step], { params: { path: { schedule_id: scheduleId } } }));
  },
  onSuccess: (_done, _wanted, _result, { client }) => refetch(client),
});

export const removeSchedule = mutationOptions({
  mutationFn: (scheduleId: number) =>
    answer(api.DELETE("/api/v1/schedules/{schedule_id}", { params: { path: { schedule_id: scheduleId } } })),
  onSuccess: (_done, _id, _result, { client }) => refetch(client),
});
