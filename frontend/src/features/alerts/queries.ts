import { infiniteQueryOptions, mutationOptions, queryOptions } from "@tanstack/react-query";
import { get, getEvery, itemsOf, pages, post, put, refetch, remove } from "@/api/requests";
import type { AlertState } from "@/api/states";
import type { Alert, AlertActionInput, AlertRuleInput } from "@/api/types";

const PAGE_SIZE = 100;

export interface AlertFilter {
  readonly clusterId?: number | undefined;
  readonly states?: readonly AlertState[] | undefined;
  readonly owner?: string | undefined;
  readonly kind?: Alert["kind"] | undefined;
  readonly group?: number | undefined;
}

export function alertsQuery({ clusterId, states, owner, kind, group }: AlertFilter) {
  const query = { cluster_id: clusterId, state: states, owner, kind, group_id: group };
  return infiniteQueryOptions({
    queryKey: ["alert", "list", query],
    ...pages("/api/v1/alerts", PAGE_SIZE, { query }),
    select: itemsOf,
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
