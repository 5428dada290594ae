/** Problems that need a person, one line each, whatever the period; hidden without any. */

import { t } from "@lingui/core/macro";
import { Trans } from "@lingui/react/macro";
import { Text } from "@mantine/core";
import { type ReactNode, useState } from "react";
import type { AttentionItem, Board } from "@/api/types";
import { Icon } from "@/components/Icon";
import { ClusterLink, NodeLink, TargetLink, TextLink } from "@/components/links";
import { RowButton } from "@/components/looks";
import { Section } from "@/components/Page";
import { Day } from "@/components/values";

const MOST_OPEN = 8;
/** Kinds that stop measurements; the others are warnings. */
const BLOCKING: readonly AttentionItem["kind"][] = [
  "stuck_node",
  "vanished_target",
  "lost_mount",
  "failing_schedule",
  "overdue_schedule",
];
/** Kinds whose words have their date. */
const DATED: readonly AttentionItem["kind"][] = ["failing_schedule", "overdue_schedule", "stale_series"];

interface NeedsAttentionProps {
  readonly board: Board;
  /** The list was cut over all clusters, so items of this one may be missing. */
  readonly isOfOneCluster: boolean;
  /** Renders the open incidents of a cluster with their actions. */
  readonly renderIncidents: (clusterId: number) => ReactNode;
}

export function NeedsAttention({ board, isOfOneCluster, renderIncidents }: NeedsAttentionProps) {
  const { attention, attention_left_out: leftOut, clusters } = board;
  if (attention.length === 0 && leftOut === 0) return null;
  const names = new Map(clusters.map(({ id, name }) => [id, name]));
  const [first, rest] = [attention.slice(0, MOST_OPEN), attention.slice(MOST_OPEN)];
  return (
    <Section title={t`Needs attention`}>
      {first.length > 0 && <Items items={first} label={t`Needs attention`} {...{ names, renderIncidents }} />}
      {rest.length > 0 && (
        <details>
          <summary>{rest.length === 1 ? t`1 more item` : t`${rest.length} more items`}</summary>
          <Items items={rest} label={t`More that needs attention`} {...{ names, renderIncidents }} />
        </details>
      )}
      {leftOut > 0 && (
        <Text size="sm">
          {isOfOneCluster
            ? t`${leftOut} more items across all clusters are not shown.`
            : t`${leftOut} more items are not shown.`}
        </Text>
      )}
    </Section>
  );
}

interface ItemsProps extends Pick<NeedsAttentionProps, "renderIncidents"> {
  readonly items: readonly AttentionItem[];
  readonly label: string;
  readonly names: ReadonlyMap<number, string>;
}

function Items({ items, label, names, renderIncidents }: ItemsProps) {
  return (
    <ul aria-label={label} className="iotide-attention">
      {items.map((item) => (
        <AttentionLine
          clusterName={names.get(item.cluster_id)}
          item={item}
          key={keyOf(item)}
          renderIncidents={renderIncidents}
        />
      ))}
    </ul>
  );
}

interface AttentionLineProps extends Pick<NeedsAttentionProps, "renderIncidents"> {
  readonly item: AttentionItem;
  readonly clusterName: string | undefined;
}

/** Incidents are loaded once they are shown. */
function AttentionLine({ item, clusterName, renderIncidents }: AttentionLineProps) {
  const [isOpen, setIsOpen] = useState(false);
  return (
    <li className={isOpen ? "iotide-attention-open" : undefined} data-blocking={BLOCKING.includes(item.kind)}>
      <Icon name="alert" size={16} />
      <span>
        <ClusterLink fw={600} id={item.cluster_id} name={clusterName} />: {wordsOf(item)}
        {item.since && !DATED.includes(item.kind) && (
          <Trans>
            , since <Day at={item.since} />
          </Trans>
        )}{" "}
        <Remedy item={item} />{" "}
        {item.kind === "open_incidents" && (
          <RowButton
            aria-expanded={isOpen}
            aria-label={t`Open incidents of ${clusterName ?? ""}`}
            onClick={() => setIsOpen(!isOpen)}
          >
            {isOpen ? t`Hide` : t`Show`}
          </RowButton>
        )}
      </span>
      {isOpen && <div className="iotide-attention-more">{renderIncidents(item.cluster_id)}</div>}
    </li>
  );
}

/** Items of one kind may share their words, so the key includes the subject. */
function keyOf({ kind, cluster_id, words, series, schedule_id, target_id, node_id }: AttentionItem): string {
  return [kind, cluster_id, words, series?.id ?? schedule_id ?? target_id ?? node_id].join(" ");
}

function wordsOf({ words, series, series_count }: AttentionItem): string {
  if (!series) return words;
  const place = [series.workload, ...series.target_names].join(", ");
  const others = series_count - 1;
  const more = others === 1 ? t` and 1 more series` : t` and ${others} more series`;
  return `${place}${others > 0 ? more : ""}: ${words}`;
}

/** The remedy as a link to the page where it is done. */
function Remedy({ item }: { item: AttentionItem }) {
  const { kind, cluster_id: clusterId, remedy, series, workload, target_id, node_id } = item;
  switch (kind) {
    case "failing_schedule":
    case "overdue_schedule":
      return <TextLink to="/schedules">{remedy}</TextLink>;
    case "lost_mount":
    case "vanished_target":
      return <TargetLink id={target_id ?? 0} name={remedy} />;
    case "stuck_node":
      return <NodeLink id={node_id ?? 0} name={remedy} />;
    case "silent_nodes":
      return <ClusterLink id={clusterId} name={remedy} />;
    case "open_incidents":
      return (
        <TextLink search={{ cluster: clusterId }} to="/incidents">
          {remedy}
        </TextLink>
      );
    case "outlier_node":
    case "outlier_target":
      return (
        <TextLink search={{ cluster: clusterId, workload: workload ?? undefined }} to="/peers">
          {remedy}
        </TextLink>
      );
    case "stale_series":
      return (
        <TextLink
          params={{ clusterId }}
          search={{
            workload: series?.workload,
            metric: series?.metric,
            series: series ? [series.id] : undefined,
          }}
          to="/clusters/$clusterId/trend"
        >
          {remedy}
        </TextLink>
      );
  }
}
