/** Entries of the audit: who did what to what, from where; each opens to what was before and after. */

import { t } from "@lingui/core/macro";
import { Code, Table, Text } from "@mantine/core";
import type { LinkProps } from "@tanstack/react-router";
import { useState } from "react";
import type { AuditEntry } from "@/api/types";
import { TextLink } from "@/components/links";
import { RowButton } from "@/components/looks";
import { useClusters } from "@/components/Origin";
import { Row, ScrollTable } from "@/components/ScrollTable";
import { When } from "@/components/values";
import { actionWords, auditTable, differences, subjectName } from "./audit";
import { placeName } from "./roles";

interface AuditTableProps {
  readonly entries: readonly AuditEntry[];
  /** The request behind the list. */
  readonly path: string;
}

const HEAD = [t`When`, t`Who`, t`Did`, t`To`, t`Cluster`, t`From`, ""];

export function AuditTable({ entries, path }: AuditTableProps) {
  const [open, setOpen] = useState<ReadonlySet<number>>(new Set());
  function toggle(id: number): void {
    const next = new Set(open);
    if (!next.delete(id)) next.add(id);
    setOpen(next);
  }
  return (
    <ScrollTable exported={{ path, table: () => auditTable(entries) }} head={HEAD} label={t`Audit`}>
      {entries.map((entry) => (
        <EntryRows
          entry={entry}
          isOpen={open.has(entry.id)}
          key={entry.id}
          onToggle={() => toggle(entry.id)}
        />
      ))}
    </ScrollTable>
  );
}

interface EntryRowsProps {
  readonly entry: AuditEntry;
  readonly isOpen: boolean;
  readonly onToggle: () => void;
}

function EntryRows({ entry, isOpen, onToggle }: EntryRowsProps) {
  const clusters = useClusters();
  const { id, action, subject_kind, principal_name, cluster_id } = entry;
  const hasMore = entry.before !== null || entry.after !== null;
  return (
    <>
      <Row>
        <When at={entry.at} />
        {principal_name}
        <td title={action}>{actionWords(action, subject_kind)}</td>
        <SubjectLink entry={entry} />
        {cluster_id === null ? "–" : placeName(cluster_id, clusters)}
        {entry.address ?? t`the server itself`}
        {hasMore && (
          <RowButton
            aria-expanded={isOpen}
            aria-label={t`Before and after of ${action} ${id}`}
            onClick={onToggle}
          >
            {isOpen ? t`Less` : t`More`}
          </RowButton>
        )}
      </Row>
      {isOpen && (
        <tr>
          <td colSpan={HEAD.length}>
            <AuditDifference entry={entry} />
          </td>
        </tr>
      )}
    </>
  );
}

function AuditDifference({ entry }: { entry: AuditEntry }) {
  return (
    <Table aria-label={t`Before and after`} layout="fixed" maw={900} withRowBorders={false}>
      <Table.Thead>
        <Table.Tr>
          <Table.Th>{t`Field`}</Table.Th>
          <Table.Th>{t`Before`}</Table.Th>
          <Table.Th>{t`After`}</Table.Th>
        </Table.Tr>
      </Table.Thead>
      <Table.Tbody>
        {differences(entry).map(({ field, before, after, isChanged }) => (
          <Table.Tr key={field}>
            <Table.Td fw={isChanged ? 600 : undefined}>{field.replaceAll("_", " ")}</Table.Td>
            <Table.Td>
              <Value text={before} />
            </Table.Td>
            <Table.Td>
              <Value text={after} />
            </Table.Td>
          </Table.Tr>
        ))}
      </Table.Tbody>
    </Table>
  );
}

function Value({ text }: { text: string | null }) {
  if (text === null) return <Text c="dimmed" component="span">{t`–`}</Text>;
  return <Code style={{ overflowWrap: "anywhere", whiteSpace: "pre-wrap" }}>{text}</Code>;
}

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

function SubjectLink({ entry }: { entry: AuditEntry }) {
  const { subject_kind, subject_id } = entry;
  const kind = subject_kind.replaceAll("_", " ");
  const name = subjectName(entry) ?? subject_id;
  const words = name === null ? kind : `${kind} ${name}`;
  const place = subject_id === null ? undefined : PLACES.get(subject_kind)?.(subject_id);
  return place ? <TextLink {...place}>{words}</TextLink> : words;
}
