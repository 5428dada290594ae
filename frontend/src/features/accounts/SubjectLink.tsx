/** What was changed, by kind and by the name that it had then; it leads to where it is shown. */

import type { ReactNode } from "react";
import type { AuditEntry } from "@/api/types";
import { TextLink } from "@/components/links";
import { subjectName } from "./audit";

export function SubjectLink({ entry }: { entry: AuditEntry }) {
  const { subject_kind, subject_id } = entry;
  const kind = subject_kind.replaceAll("_", " ");
  const name = subjectName(entry) ?? subject_id;
  const words = name === null ? kind : `${kind} ${name}`;
  return subject_id === null ? words : place(subject_kind, subject_id, words);
}

/** Kinds without a page of their own lead to the list that they are in. */
function place(kind: string, id: number, words: string): ReactNode {
  switch (kind) {
    case "cluster":
      return (
        <TextLink params={{ clusterId: id }} to="/clusters/$clusterId">
          {words}
        </TextLink>
      );
    case "node":
      return (
        <TextLink params={{ nodeId: id }} to="/nodes/$nodeId">
          {words}
        </TextLink>
      );
    case "target":
      return (
        <TextLink params={{ targetId: id }} to="/targets/$targetId">
          {words}
        </TextLink>
      );
    case "campaign":
      return (
        <TextLink params={{ campaignId: id }} to="/campaigns/$campaignId">
          {words}
        </TextLink>
      );
    case "run":
      return (
        <TextLink params={{ runId: id }} to="/runs/$runId">
          {words}
        </TextLink>
      );
    case "alert":
      return (
        <TextLink params={{ alertId: id }} to="/alerts/$alertId">
          {words}
        </TextLink>
      );
    case "schedule":
    case "template":
      return <TextLink to="/schedules">{words}</TextLink>;
    case "user":
      return <TextLink to="/settings/people">{words}</TextLink>;
    case "token":
      return <TextLink to="/settings/tokens">{words}</TextLink>;
    case "alert_rule":
    case "channel":
      return <TextLink to="/settings">{words}</TextLink>;
    default:
      return words;
  }
}
