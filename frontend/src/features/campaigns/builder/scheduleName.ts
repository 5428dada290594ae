/** Name of a schedule in the builder: typed, or a free one like the campaign's. */

import { useMutation, useQuery } from "@tanstack/react-query";
import { ApiError } from "@/api/errors";
import { saveSchedule, schedulesQuery } from "../schedules/queries";
import { freeName, type StoredSchedule } from "./calendar";
import type { Draft } from "./draft";

export function useScheduleName(draft: Draft, clusterId: number, stored: StoredSchedule | undefined): string {
  const isAsked = draft.repeat.when !== "now" && stored === undefined && draft.scheduleName === undefined;
  const { data: schedules = [] } = useQuery({ ...schedulesQuery, enabled: isAsked });
  const taken = schedules.filter(({ cluster_id: id }) => id === clusterId).map(({ name }) => name);
  return draft.scheduleName ?? stored?.name ?? freeName(draft.name, taken);
}

export type ScheduleSaving = ReturnType<typeof useScheduleSaving>;

/** The mutation, and whether the server refused the name. Then the list of names is requested again. */
export function useScheduleSaving() {
  const save = useMutation({
    ...saveSchedule,
    onError: (_error, _saving, _kept, { client }) =>
      client.invalidateQueries({ queryKey: schedulesQuery.queryKey }),
  });
  return {
    ...save,
    isNameTaken: save.error instanceof ApiError && save.error.code === "schedule_name_taken",
  };
}
