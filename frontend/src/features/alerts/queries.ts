import { infiniteQueryOptions, mutationOptions, queryOptions } from "@tanstack/react-query";
import { get, getEvery, itemsOf, pages, post, put, refetch, remove } from "@/api/requests";
import type { IncidentState } from "@/api/states";
import type { AlertActionInput, AlertRuleInput, Incident, IncidentActionInput } from "@/api/types";

const PAGE_SIZE = 50;
/** Points of a sparkline, and of the chart of an incident. */
const POINTS_SMALL = 60;
const POINTS_DRAWN = 500;
const POINTS_LOOKED_AT = 10_000;

export interface IncidentFilter {
  readonly clusterId?: number | undefined;
  readonly states?: readonly Exclude<IncidentState, "withdrawn">[] | undefined;
  readonly owner?: string | undefined;
  readonly kind?: Incident["kind"] | undefined;
  readonly seriesIds?: readonly number[] | undefined;
  readonly targetId?: number | undefined;
  /** Incidents of a page. */
  readonly atOnce?: number;
}

/** Open ones first, each newest first. Keys begin with the topic of the change feed. */
export function incidentsQuery(filter: IncidentFilter) {
  const { clusterId, states, owner, kind, seriesIds, targetId, atOnce = PAGE_SIZE } = filter;
  const query = {
    ...{ cluster_id: clusterId, state: states, owner, kind },
    ...{ series_id: seriesIds, target_id: targetId },
  };
  return infiniteQueryOptions({
    queryKey: ["alert", "list", "incidents", query, atOnce],
    ...pages("/api/v1/incidents", atOnce, { query }),
    select: itemsOf,
  });
}

export function incidentQuery(incidentId: number) {
  return queryOptions({
    queryKey: ["alert", "list", "incidents", incidentId],
    queryFn: ({ signal }) =>
      get("/api/v1/incidents/{incident_id}", { path: { incident_id: incidentId }, signal }),
  });
}

export const actOnIncident = mutationOptions({
  meta: { isShownInPlace: true },
  mutationFn: ({ incidentId, body }: { incidentId: number; body: IncidentActionInput }) =>
    post("/api/v1/incidents/{incident_id}/actions", { path: { incident_id: incidentId }, body }),
  onSuccess: refetch(["alert"], ["standing"]),
});

/** Its button is in a notification, so an error is shown as one. */
export const undoOnIncident = mutationOptions({
  mutationFn: (incidentId: number) =>
    post("/api/v1/incidents/{incident_id}/actions", {
      path: { incident_id: incidentId },
      body: { action: "undo", comment: "" },
    }),
  onSuccess: refetch(["alert"], ["standing"]),
});

/** Points of the worst series of incidents, by series. */
export function sparkPointsQuery(seriesIds: readonly number[]) {
  const query = { series_id: seriesIds, limit: POINTS_LOOKED_AT, points: POINTS_SMALL };
  return queryOptions({
    queryKey: ["series", "list", "incident points", seriesIds],
    queryFn: async ({ signal }) =>
      new Map((await get("/api/v1/points", { query, signal })).map((points) => [points.series.id, points])),
    enabled: seriesIds.length > 0,
  });
}

export function seriesPointsQuery(seriesId: number) {
  const query = { limit: POINTS_LOOKED_AT, points: POINTS_DRAWN };
  return queryOptions({
    queryKey: ["series", seriesId, "incident points"],
    queryFn: ({ signal }) =>
      get("/api/v1/series/{series_id}/points", { path: { series_id: seriesId }, query, signal }),
  });
}

export function alertQuery(alertId: number) {
  return queryOptions({
    queryKey: ["alert", alertId],
    queryFn: ({ signal }) => get("/api/v1/alerts/{alert_id}", { path: { alert_id: alertId }, signal }),
  });
}

export const actOnAlert = mutationOptions({
  meta: { isShownInPlace: true },
  mutationFn: ({ alertId, body }: { alertId: number; body: AlertActionInput }) =>
    post("/api/v1/alerts/{alert_id}/actions", { path: { alert_id: alertId }, body }),
  onSuccess: refetch(["alert"]),
});

export const muteAlert = mutationOptions({
  meta: { isShownInPlace: true },
  mutationFn: ({ alertId, until }: { alertId: number; until: string | null }) =>
    put("/api/v1/alerts/{alert_id}/mute", { path: { alert_id: alertId }, body: { until } }),
  onSuccess: refetch(["alert"]),
});

export const alertRulesQuery = queryOptions({
  queryKey: ["alert", "list", "rules"],
  queryFn: ({ signal }) => getEvery("/api/v1/alert-rules", { signal }),
});

export const createAlertRule = mutationOptions({
  meta: { isShownInPlace: true },
  mutationFn: (body: AlertRuleInput) => post("/api/v1/alert-rules", { body }),
  onSuccess: refetch(["alert"]),
});

export const changeAlertRule = mutationOptions({
  meta: { isShownInPlace: true },
  mutationFn: ({ ruleId, body }: { ruleId: number; body: AlertRuleInput }) =>
    put("/api/v1/alert-rules/{rule_id}", { path: { rule_id: ruleId }, body }),
  onSuccess: refetch(["alert"]),
});

export const removeAlertRule = mutationOptions({
  mutationFn: (ruleId: number) => remove("/api/v1/alert-rules/{rule_id}", { path: { rule_id: ruleId } }),
  onSuccess: refetch(["alert"]),
});
