/** Conversions of an alert rule between API and form. */

import { t } from "@lingui/core/macro";
import type { AlertRule, AlertRuleInput } from "@/api/types";

/** All fields of the rule, so that one can be changed. */
export function inputOf({ id: _id, cluster_id: _cluster, ...rule }: AlertRule): AlertRuleInput {
  const { cluster_name: cluster, target, created_at: _created, open_alerts: _open, ...kept } = rule;
  return { ...kept, cluster, target: target?.name ?? null };
}

/** Form fields that are not React state. */
export function ruleOf(
  form: FormData,
  rest: Pick<AlertRuleInput, "cluster" | "channel_ids" | "muted_until"> & { readonly percent: number },
): AlertRuleInput {
  const text = (name: string) => String(form.get(name) ?? "").trim() || null;
  const { percent, ...given } = rest;
  return {
    ...given,
    name: text("name") ?? "",
    target: text("target"),
    workload: text("workload"),
    metric: text("metric"),
    least_shift_ratio: percent / 100,
    directions: text("directions") === "both" ? "both" : "worse",
    missing_runs: form.has("missing_runs"),
    control_workload: text("control_workload"),
  };
}

export const MUTES = [
  { hours: 1, label: t`For an hour` },
  { hours: 8, label: t`For 8 hours` },
  { hours: 24, label: t`For a day` },
  { hours: 7 * 24, label: t`For a week` },
] as const;

/** Returns the end of a mute that starts now. */
export function muteEnd(hours: number, now: Date): string {
  return new Date(now.getTime() + hours * 3_600_000).toISOString();
}

/** The rule sends no notifications now. */
export function isMute({ muted_until: until }: Pick<AlertRule, "muted_until">, now: Date): boolean {
  return until !== null && new Date(until) > now;
}
