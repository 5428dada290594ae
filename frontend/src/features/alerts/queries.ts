/** Requests of alerts and of the rules that raise them. */

import { infiniteQueryOptions, mutationOptions, type QueryClient, queryOptions } from "@tanstack/react-query";
import { answer, api } from "@/api/client";
import { everyItem } from "@/api/pages";
import type { AlertState } from "@/api/states";
import type { Alert, AlertActionInput, AlertRuleInput } from "@/api/types";

const PAGE_SIZE = 100;

export interface AlertFilter {
  readonly clusterId?: number | undefined;
  /** Undefined: any. */
  readonly states?: readonly AlertState[] | undefined;
  readonly owner?: string | undefined;
  readonly kind?: Alert["kind"] | undefined;
  readonly group?: number | undefined;
}

export function alertsQuery({ clusterId, states, owner, kind, group }: AlertFilter) {
  const wanted = {
    cluster_id: clusterId ?? null,
    state: states ? [...states] : null,
    owner: owner ?? null,
    kind: kind ?? null,
    group_id: group ?? null,
  };
  return infiniteQueryOptions({
    queryKey: ["alert", "list", wanted],
    queryFn: ({ pageParam, signal }) => {
      const query = { limit: PAGE_SIZE, cursor: pageParam, ...wanted };
      return answer(api.GET("/api/v1/alerts", { params: { query }, signal }));
    },
    initialPageParam: null as string | null,
    getNextPageParam: (page) => page.next_cursor,
    select: ({ pages }) => pages.flatMap(({ items }) => items),
  });
}

export function alertQuery(alertId: number) {
  return queryOptions({
    queryKey: ["alert", alertId],
    queryFn: ({ signal }) =>
      answer(api.GET("/api/v1/alerts/{alert_id}", { params: { path: { alert_id: alertId } }, signal })),
  });
}

function refetch(client: QueryClient): Promise<void> {
  return client.invalidateQueries({ queryKey: ["alert"] });
}

export const actOnAlert = mutationOptions({
  meta: { isShownInPlace: true },
  mutationFn: ({ alertId, body }: { alertId: number; body: AlertActionInput }) =>
    answer(api.POST("/api/v1/alerts/{alert_id}/actions", { params: { path: { alert_id: alertId } }, body })),
  onSuccess: (_alert, _wanted, _result, { client }) => refetch(client),
});

export const muteAlert = mutationOptions({
  meta: { isShownInPlace: true },
  mutationFn: ({ alertId, until }: { alertId: number; until: string | null }) =>
    answer(
      api.PUT("/api/v1/alerts/{alert_id}/mute", {
        params: { path: { alert_id: alertId } },
        body: { until },
      }),
    ),
  onSuccess: (_alert, _wanted, _result, { client }) => refetch(client),
});

export const alertRulesQuery = queryOptions({
  queryKey: ["alert", "list", "rules"],
  queryFn: ({ signal }) =>
    everyItem((query) => answer(api.GET("/api/v1/alert-rules", { params: { query }, signal }))),
});

export const createAlertRule = mutationOptions({
  meta: { isShownInPlace: true },
  mutationFn: (body: AlertRuleInput) => answer(api.POST("/api/v1/alert-rules", { body })),
  onSuccess: (_rule, _body, _result, { client }) => refetch(client),
});

export const changeAlertRule = mutationOptions({
  meta: { isShownInPlace: true },
  mutationFn: ({ ruleId, body }: { ruleId: number; body: AlertRuleInput }) =>
    answer(api.PUT("/api/v1/alert-rules/{rule_id}", { params: { path: { rule_id: ruleId } }, body })),
  onSuccess: (_rule, _wanted, _result, { client }) => refetch(client),
});

export const removeAlertRule = mutationOptions({
  mutationFn: (ruleId: number) =>
    answer(api.DELETE("/api/v1/alert-rules/{rule_id}", { params: { path: { rule_id: ruleId } } })),
  onSuccess: (_done, _id, _result, { client }) => refetch(client),
});
