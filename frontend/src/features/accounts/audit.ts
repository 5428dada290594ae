/** What is asked of the audit, what an entry says in words, and what differs between before and after; pure. */

import { t } from "@lingui/core/macro";
import type { AuditEntry } from "@/api/types";
import type { ExportTable } from "@/lib/exported";
import { dayBegin, dayEnd } from "@/lib/time";

/** What of the audit is shown, as the page's address has it; days as 2026-11-21. */
export interface AuditView {
  readonly actor?: string | undefined;
  readonly action?: string | undefined;
  readonly kind?: string | undefined;
  readonly id?: number | undefined;
  readonly cluster?: number | undefined;
  readonly address?: string | undefined;
  readonly from?: string | undefined;
  readonly to?: string | undefined;
  readonly text?: string | undefined;
}

/** The query of the API for what the page's address asks; a day is one by the clock that moments are shown on. */
export function asked({ actor, action, kind, id, cluster, address, from, to, text }: AuditView) {
  const given = {
    actor,
    action,
    subject_kind: kind,
    subject_id: id,
    cluster_id: cluster,
    address,
    from: dayBegin(from),
    to: dayEnd(to),
    text,
  };
  return Object.fromEntries(
    Object.entries(given).filter(([, value]) => value !== undefined && value !== null && value !== ""),
  );
}

/** The request behind the list. */
export function listAddress(view: AuditView): string {
  return `/api/v1/audit?${parameters(view)}`;
}

export function exportAddress(view: AuditView, format: "csv" | "jsonl"): string {
  return `/api/v1/audit/export?${parameters(view, { format })}`;
}

function parameters(view: AuditView, more: Record<string, string> = {}): string {
  const wanted = Object.entries(asked(view)).map(([name, value]) => [name, String(value)]);
  return new URLSearchParams([...wanted, ...Object.entries(more)]).toString();
}

/** The entries as a table of a file, opened or not. */
export function auditTable(entries: readonly AuditEntry[]): ExportTable {
  const columns = ["at", "who", "action", "subject_kind", "subject_id", "cluster_id", "address"];
  const rows = entries.map((entry) => [
    ...[entry.at, entry.principal_name, entry.action, entry.subject_kind, entry.subject_id],
    ...[entry.cluster_id, entry.address, json(entry.before), json(entry.after)],
  ]);
  return { columns: [...columns, "before", "after"], rows };
}

function json(values: AuditEntry["before"]): string | null {
  return values && JSON.stringify(values);
}

/** Actions whose name is no sentence by itself. */
const SENTENCES: Readonly<Record<string, string>> = {
  signed_in: t`logged in`,
  signed_out: t`logged out`,
  sign_in_refused: t`was refused the login`,
  sessions_ended: t`ended all sessions`,
  password_changed: t`set another password`,
  link_made: t`made a sign-in link`,
  node_enrolled: t`joined`,
  node_declared_dead: t`called the node dead`,
  node_freed: t`freed what the stuck node held`,
  schedule_run: t`ran the schedule by hand`,
  stage_confirmed: t`confirmed the stage`,
  run_read_again: t`had the run read by another parser`,
  campaign_priority_changed: t`changed the priority`,
  campaign_repeats_added: t`added repeats`,
  event_told: t`added an event`,
  series_muted: t`muted the series`,
  demo_history_loaded: t`loaded sample data`,
  published_results_loaded: t`loaded published results`,
};

/** `target_changed` as “changed”: what it was done to stands beside it. */
export function actionWords(action: string, subjectKind: string): string {
  const known = SENTENCES[action];
  if (known !== undefined) return known;
  const verb = action.startsWith(`${subjectKind}_`) ? action.slice(subjectKind.length + 1) : action;
  return verb.replaceAll("_", " ");
}

type Named = Pick<
  AuditEntry,
  "before" | "after" | "principal_kind" | "principal_id" | "principal_name" | "subject_kind" | "subject_id"
>;

/** The name that the subject had then, where before or after has it, or where people did it to themselves. */
export function subjectName(entry: Named): string | null {
  const name = entry.after?.name ?? entry.before?.name;
  if (typeof name === "string") return name;
  const isSelf =
    entry.subject_kind === "user" &&
    entry.principal_kind === "user" &&
    entry.principal_id === entry.subject_id;
  return isSelf ? entry.principal_name : null;
}

export interface FieldDifference {
  readonly field: string;
  /** Null where it was not there. */
  readonly before: string | null;
  readonly after: string | null;
  readonly isChanged: boolean;
}

/** Field by field, what changed first. */
export function differences({ before, after }: Pick<AuditEntry, "before" | "after">): FieldDifference[] {
  const fields = [...new Set([...Object.keys(before ?? {}), ...Object.keys(after ?? {})])];
  const all = fields.map((field) => {
    const [was, is] = [shown(before, field), shown(after, field)];
    return { field, before: was, after: is, isChanged: was !== is };
  });
  return all.sort((a, b) => Number(b.isChanged) - Number(a.isChanged));
}

function shown(values: AuditEntry["before"], field: string): string | null {
  if (values === null || !(field in values)) return null;
  const value: unknown = values[field];
  return typeof value === "string" ? value : JSON.stringify(value);
}
