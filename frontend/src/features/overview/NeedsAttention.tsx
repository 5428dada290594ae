/** Problems that need a person, whatever the period; hidden without any. */

import { t } from "@lingui/core/macro";
import { Text } from "@mantine/core";
import type { AttentionItem, Board } from "@/api/types";
import { ClusterLink, NodeLink, TargetLink, TextLink } from "@/components/links";
import { Detail } from "@/components/looks";
import { Section } from "@/components/Page";
import { Row, ScrollTable } from "@/components/ScrollTable";
import { SeriesName } from "@/components/SeriesName";
import { Day } from "@/components/values";

interface NeedsAttentionProps {
  readonly board: Board;
  /** The list was cut over all clusters, so items of this one may be missing. */
  readonly isOfOneCluster: boolean;
}

export function NeedsAttention({ board, isOfOneCluster }: NeedsAttentionProps) {
  const { attention, attention_left_out: leftOut } = board;
  if (attention.length === 0 && leftOut === 0) return null;
  return (
    <Section title={t`Needs attention`}>
      {attention.length > 0 && <Items board={board} />}
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

function Items({ board: { attention, clusters } }: { board: Board }) {
  const names = new Map(clusters.map(({ id, name }) => [id, name]));
  return (
    <ScrollTable head={[t`Cluster`, t`Subject`, t`Problem`, t`Since`, t`Remedy`]} label={t`Needs attention`}>
      {attention.map((item) => (
        <Row key={keyOf(item)}>
          <ClusterLink id={item.cluster_id} name={names.get(item.cluster_id)} />
          <td className="iotide-name">
            <Subject item={item} />
          </td>
          <td className="iotide-wrap">{item.words}</td>
          {item.since ? <Day at={item.since} /> : t`unknown`}
          <td className="iotide-wrap">{item.remedy}</td>
        </Row>
      ))}
    </ScrollTable>
  );
}

/** Items of one kind may share their words, so the key includes the subject. */
function keyOf({ kind, cluster_id, words, series, schedule_id, target_id, node_id }: AttentionItem): string {
  return [kind, cluster_id, words, series?.id ?? schedule_id ?? target_id ?? node_id].join(" ");
}

function Subject({ item }: { item: AttentionItem }) {
  switch (item.kind) {
    case "failing_schedule":
    case "overdue_schedule":
      return <TextLink to="/schedules">{t`Schedule`}</TextLink>;
    case "lost_mount":
    case "vanished_target":
      return (
        <TargetLink
          id={item.target_id ?? 0}
          name={item.kind === "lost_mount" ? t`Lost mount` : t`Missing target`}
        />
      );
    case "stuck_node":
      return <NodeLink id={item.node_id ?? 0} name={t`Stuck node`} />;
    case "silent_nodes":
      return <ClusterLink id={item.cluster_id} name={t`Silent nodes`} />;
    case "stale_series":
      return <Stale item={item} />;
  }
}

function Stale({ item: { series, cluster_id, series_count } }: { item: AttentionItem }) {
  if (!series) return null;
  const others = series_count - 1;
  return (
    <>
      <SeriesName clusterId={cluster_id} series={series} />
      {others > 0 && <Detail>{others === 1 ? t`and 1 more series` : t`and ${others} more series`}</Detail>}
    </>
  );
}
