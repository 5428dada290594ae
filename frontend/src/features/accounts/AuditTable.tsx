/** Entries of the audit: who did what to what, from where; each opens to what was before and after. */

import { t } from "@lingui/core/macro";
import { Button } from "@mantine/core";
import { useState } from "react";
import type { AuditEntry } from "@/api/types";
import { Row, ScrollTable } from "@/components/ScrollTable";
import { When } from "@/components/values";
import { AuditDifference } from "./AuditDifference";
import { actionWords, auditTable } from "./audit";
import { type NamedCluster, placeName } from "./roles";
import { SubjectLink } from "./SubjectLink";

interface AuditTableProps {
  readonly entries: readonly AuditEntry[];
  readonly clusters: readonly NamedCluster[];
  /** The request behind the list. */
  readonly path: string;
}

const HEAD = [t`When`, t`Who`, t`Did`, t`To`, t`Cluster`, t`From`, ""];

export function AuditTable({ entries, clusters, path }: AuditTableProps) {
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
          clusters={clusters}
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
  readonly clusters: readonly NamedCluster[];
  readonly isOpen: boolean;
  readonly onToggle: () => void;
}

function EntryRows({ entry, clusters, isOpen, onToggle }: EntryRowsProps) {
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
          <Button
            aria-expanded={isOpen}
            aria-label={t`Before and after of ${action} ${id}`}
            onClick={onToggle}
            size="compact-xs"
            variant="default"
          >
            {isOpen ? t`Less` : t`More`}
          </Button>
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
