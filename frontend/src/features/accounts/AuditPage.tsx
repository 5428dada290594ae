import { t } from "@lingui/core/macro";
import { Button, Code, Group, Stack, Table, Text } from "@mantine/core";
import { useInfiniteQuery } from "@tanstack/react-query";
import type { LinkProps } from "@tanstack/react-router";
import { useState } from "react";
import type { AuditEntry } from "@/api/types";
import { ChoiceFilter, DayFilter, TextFilter } from "@/components/filters";
import { Icon } from "@/components/Icon";
import { TextLink } from "@/components/links";
import { RowButton } from "@/components/looks";
import { useClusters } from "@/components/Origin";
import { Loaded, Page, Section, ShowMore } from "@/components/Page";
import { Row, ScrollTable } from "@/components/ScrollTable";
import { When } from "@/components/values";
import {
  type AuditView,
  actionWords,
  auditTable,
  differences,
  exportAddress,
  kindWords,
  listAddress,
  subjectName,
} from "./audit";
import { auditQuery } from "./queries";
import { placeName } from "./roles";
import { SettingsTabs } from "./SettingsTabs";

interface AuditPageProps {
  readonly view: AuditView;
  readonly onView: (change: AuditView) => void;
}

export function AuditPage({ view, onView }: AuditPageProps) {
  const entries = useInfiniteQuery(auditQuery(view));
  return (
    <Page title={t`Audit`} trail={t`Settings`}>
      <SettingsTabs />
      <Section
        actions={<Exports view={view} />}
        description={t`All changes, with user, subject, address and the values before and after. Entries cannot be edited or deleted.`}
        title={t`Changes`}
      >
        <Stack>
          <AuditFilters onView={onView} view={view} />
          <Loaded empty={t`No entries match the filters.`} lines={8} query={entries}>
            {(rows) => <AuditTable entries={rows} path={listAddress(view)} />}
          </Loaded>
          <ShowMore query={entries} />
        </Stack>
      </Section>
    </Page>
  );
}

/** Exports all matching entries, not only those shown. */
function Exports({ view }: { view: AuditView }) {
  return (
    <>
      {(["csv", "jsonl"] as const).map((format) => (
        <Button
          component="a"
          download={`audit.${format}`}
          href={exportAddress(view, format)}
          key={format}
          leftSection={<Icon name="download" size={14} />}
          size="compact-sm"
          variant="default"
        >
          {format === "csv" ? t`All as CSV` : t`All as JSON Lines`}
        </Button>
      ))}
    </>
  );
}

const SUBJECTS = [
  ...["alert", "alert_rule", "blackout", "campaign", "channel", "cluster", "event", "join_token", "node"],
  ...["run", "schedule", "series", "server", "target", "template", "token", "user", "view"],
];

/** An action name of the API; not translated. */
const AN_ACTION = "target_changed";

function AuditFilters({ view, onView }: AuditPageProps) {
  const clusters = useClusters();
  const { cluster } = view;
  const isKnown = cluster === undefined || clusters.some(({ id }) => id === cluster);
  const shownClusters = isKnown
    ? clusters
    : [...clusters, { id: cluster, name: placeName(cluster, clusters) }];
  return (
    <Group align="flex-end" gap="xs">
      <TextFilter
        label={t`Search`}
        onText={(text) => onView({ text })}
        placeholder={t`Any text`}
        value={view.text}
        width={220}
      />
      <TextFilter
        label={t`Actor`}
        onText={(actor) => onView({ actor })}
        placeholder={t`Name`}
        value={view.actor}
      />
      <TextFilter
        label={t`Action`}
        onText={(action) => onView({ action })}
        placeholder={AN_ACTION}
        value={view.action}
      />
      <SubjectFilter onView={onView} view={view} />
      <ChoiceFilter
        all={t`All clusters`}
        choices={shownClusters.map(({ id, name }) => ({ value: id, label: name }))}
        label={t`Cluster`}
        onChoose={(chosen) => onView({ cluster: chosen })}
        value={cluster}
      />
      <TextFilter
        label={t`Address`}
        onText={(address) => onView({ address })}
        placeholder={t`IP address`}
        value={view.address}
      />
      <DayFilter label={t`From`} onDay={(from) => onView({ from })} value={view.from} />
      <DayFilter label={t`To`} onDay={(to) => onView({ to })} value={view.to} />
      {Object.values(view).some((value) => value !== undefined) && (
        <Button onClick={() => onView(cleared(view))} size="xs" variant="default">{t`Clear filters`}</Button>
      )}
    </Group>
  );
}

/** Sets every filter to undefined, which removes it from the address. */
function cleared(view: AuditView): AuditView {
  return Object.fromEntries(Object.keys(view).map((name) => [name, undefined]));
}

function SubjectFilter({ view, onView }: AuditPageProps) {
  const kinds = view.kind === undefined || SUBJECTS.includes(view.kind) ? SUBJECTS : [view.kind, ...SUBJECTS];
  return (
    <>
      <ChoiceFilter
        all={t`All subjects`}
        choices={kinds.map((kind) => ({ value: kind, label: kindWords(kind) }))}
        label={t`Subject`}
        onChoose={(kind) => onView({ kind, id: undefined })}
        value={view.kind}
      />
      {view.id !== undefined && (
        <Button onClick={() => onView({ id: undefined })} size="xs" variant="light">
          {t`number ${view.id} ×`}
        </Button>
      )}
    </>
  );
}

interface AuditTableProps {
  readonly entries: readonly AuditEntry[];
  readonly path: string;
}

const HEAD = [t`Time`, t`Actor`, t`Action`, t`Subject`, t`Cluster`, t`Address`, ""];

function AuditTable({ entries, path }: AuditTableProps) {
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
        {entry.address ?? t`server`}
        {hasMore && (
          <RowButton
            aria-expanded={isOpen}
            aria-label={t`Values before and after ${action} ${id}`}
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
    <Table aria-label={t`Values before and after`} layout="fixed" maw={900} withRowBorders={false}>
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

/** Kinds without a page of their own link to the list that contains them. */
const PLACES: ReadonlyMap<string, (id: number) => LinkProps> = new Map(
  Object.entries({
    cluster: (clusterId: number): LinkProps => ({ to: "/clusters/$clusterId", params: { clusterId } }),
    node: (nodeId: number): LinkProps => ({ to: "/nodes/$nodeId", params: { nodeId } }),
    target: (targetId: number): LinkProps => ({ to: "/targets/$targetId", params: { targetId } }),
    campaign: (campaignId: number): LinkProps => ({ to: "/campaigns/$campaignId", params: { campaignId } }),
    run: (runId: number): LinkProps => ({ to: "/runs/$runId", params: { runId } }),
    alert: (alertId: number): LinkProps => ({ to: "/alerts/$alertId", params: { alertId } }),
    incident: (incidentId: number): LinkProps => ({ to: "/incidents/$incidentId", params: { incidentId } }),
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
  const kind = kindWords(subject_kind);
  const name = subjectName(entry) ?? subject_id;
  const words = name === null ? kind : `${kind} ${name}`;
  const place = subject_id === null ? undefined : PLACES.get(subject_kind)?.(subject_id);
  return place ? <TextLink {...place}>{words}</TextLink> : words;
}
