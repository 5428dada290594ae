/** What was changed, by kind and by the name that it had then; it leads to where it is shown. */

import type { LinkProps } from "@tanstack/react-router";
import type { AuditEntry } from "@/api/types";
import { TextLink } from "@/components/links";
import { subjectName } from "./audit";

/** Kinds without a page of their own lead to the list that they are in. */
const PLACES: ReadonlyMap<string, (id: number) => LinkProps> = new Map(
  Object.entries({
    cluster: (clusterId: number): LinkProps => ({ to: "/clusters/$clusterId", params: { clusterId } }),
    node: (nodeId: number): LinkProps => ({ to: "/nodes/$nodeId", params: { nodeId } }),
    target: (targetId: number): LinkProps => ({ to: "/targets/$targetId", params: { targetId } }),
    campaign: (campaignId: number): LinkProps => ({ to: "/campaigns/$campaignId", params: { campaignId } }),
    run: (runId: number): LinkProps => ({ to: "/runs/$runId", params: { runId } }),
    alert: (alertId: number): LinkProps => ({ to: "/alerts/$alertId", params: { alertId } }),
    schedule: (): LinkProps => ({ to: "/schedules" }),
    template: (): LinkProps => ({ to: "/schedules" }),
    user: (): LinkProps => ({ to: "/settings/people" }),
    token: (): LinkProps => ({ to: "/settings/tokens" }),
    alert_rule: (): LinkProps => ({ to: "/settings" }),
    channel: (): LinkProps => ({ to: "/settings" }),
  }),
);

export function SubjectLink({ entry }: { entry: AuditEntry }) {
  const { subject_kind, subject_id } = entry;
  const kind = subject_kind.replaceAll("_", " ");
  const name = subjectName(entry) ?? subject_id;
  const words = name === null ? kind : `${kind} ${name}`;
  const place = subject_id === null ? undefined : PLACES.get(subject_kind)?.(subject_id);
  return place ? <TextLink {...place}>{words}</TextLink> : words;
}
