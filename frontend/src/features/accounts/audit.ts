/** Filters, wording and differences of audit entries. */

import { t } from "@lingui/core/macro";
import type { AuditEntry } from "@/api/types";
import type { ExportTable } from "@/lib/exported";
import { dayBegin, dayEnd } from "@/lib/time";

/** Filters of the audit page as in its address; days as 2026-11-21. */
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

/** Query of the API for these filters. Days are in the displayed time zone. */
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

/** Wording of actions owner names do not read as a sentence. */
const SENTENCES: Readonly<Record<string, string>> = {
  signed_in: t`signed in`,
  signed_out: t`signed out`,
  sign_in_refused: t`sign-in refused`,
  sessions_ended: t`ended all sessions`,
  password_changed: t`changed the password`,
  link_made: t`created a sign-in link`,
  node_enrolled: t`joined`,
  node_declared_dead: t`declared the node dead`,
  node_freed: t`freed the stuck node`,
  schedule_run: t`ran the schedule manually`,
  stage_confirmed: t`confirmed the stage`,
  run_read_again: t`parsed the run again`,
  campaign_priority_changed: t`changed the priority`,
  campaign_repeats_added: t`added repeats`,
  event_told: t`added an event`,
  series_muted: t`muted the series`,
  demo_history_loaded: t`loaded sample data`,
  published_results_loaded: t`loaded published results`,
};

/** `target_changed` becomes “changed”, since the subject is shown next to it. */
export function actionWords(action: string, subjectKind: string): string {
  const known = SENTENCES[action];
  if (known !== undefined) return known;
  const verb = action.startsWith(`${subjectKind}_`) ? action.slice(subjectKind.length + 1) : action;
  return verb.replaceAll("_", " ");
}

const KINDS: Readonly<Record<string, string>> = { blackout: t`maintenance window` };

export function kindWords(kind: string): string {
  return KINDS[kind] ?? kind.replaceAll("_", " ");
}

type Named = Pick<
  AuditEntry,
  "before" | "after" | "principal_kind" | "principal_id" | "principal_name" | "subject_kind" | "subject_id"
>;

/** Name of the subject at that time; of users who changed themselves, their own name. */
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
  /** Null if the field did not exist. */
  readonly before: string | null;
  readonly after: string | null;
  readonly isChanged: boolean;
}

/** Differences by field, changed fields first. */
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
