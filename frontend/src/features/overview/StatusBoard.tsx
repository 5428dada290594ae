/** Status of each cluster (row) and workload (cell), worst first. */

import { t } from "@lingui/core/macro";
import { Trans } from "@lingui/react/macro";
import { Badge, List, NativeSelect, Stack, Text } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import type { ReactNode } from "react";
import type { Board, BoardCluster } from "@/api/types";
import { ClusterLink } from "@/components/links";
import { Hint } from "@/components/looks";
import { OriginBadge, useOrigin } from "@/components/Origin";
import { Loaded, Section } from "@/components/Page";
import { BoardSummary } from "./BoardSummary";
import { NeedsAttention } from "./NeedsAttention";
import { boardQuery, USUAL_DAYS } from "./queries";
import { StatusCell } from "./StatusCell";
import { type ClusterCells, ofCluster, STATE_WORDS, worstFirst } from "./standings";

const PERIODS = [7, 30, 90, 365] as const;
type Period = (typeof PERIODS)[number];

interface StatusBoardProps {
  /** Undefined: all clusters. */
  readonly clusterId?: number;
  readonly days: Period | undefined;
  readonly onDays: (days: Period | undefined) => void;
  readonly actionsOf?: (clusterId: number) => ReactNode;
  readonly renderIncidents: (clusterId: number) => ReactNode;
}

export default function StatusBoard(props: StatusBoardProps) {
  const { clusterId, days = USUAL_DAYS, onDays, actionsOf, renderIncidents } = props;
  const board = useQuery(boardQuery(days));
  return (
    <>
      {board.data && (
        <NeedsAttention
          board={ofCluster(board.data, clusterId)}
          isOfOneCluster={clusterId !== undefined}
          renderIncidents={renderIncidents}
        />
      )}
      <Section
        actions={
          <>
            {clusterId !== undefined && <BoardSummary clusterId={clusterId} days={days} />}
            <PeriodChoice days={days} onDays={onDays} />
          </>
        }
        title={t`Status`}
      >
        <Loaded lines={6} query={board}>
          {(found) => <BoardBody actionsOf={actionsOf} board={ofCluster(found, clusterId)} />}
        </Loaded>
      </Section>
    </>
  );
}

function PeriodChoice({ days, onDays }: Required<Pick<StatusBoardProps, "days" | "onDays">>) {
  return (
    <NativeSelect
      aria-label={t`Period`}
      data={PERIODS.map((period) => ({ value: String(period), label: t`Last ${period} days` }))}
      onChange={({ currentTarget: { value } }) => onDays(PERIODS.find((period) => String(period) === value))}
      size="xs"
      value={String(days)}
    />
  );
}

function BoardBody({ board, actionsOf }: { board: Board; actionsOf: StatusBoardProps["actionsOf"] }) {
  const periodSeconds = (Date.parse(board.until) - Date.parse(board.since)) / 1000;
  return (
    <Stack gap="md">
      <div className="iotide-clusters">
        {worstFirst(board).map((row) => (
          <ClusterRow actionsOf={actionsOf} key={row.cluster.id} periodSeconds={periodSeconds} row={row} />
        ))}
      </div>
      {board.is_cut && <Text size="sm">{t`Too many series to evaluate. Only the newest are included.`}</Text>}
      <Legend />
    </Stack>
  );
}

interface ClusterRowProps {
  readonly row: ClusterCells;
  readonly periodSeconds: number;
  readonly actionsOf: StatusBoardProps["actionsOf"];
}

function ClusterRow({ row: { cluster, cells }, periodSeconds, actionsOf }: ClusterRowProps) {
  return (
    // biome-ignore lint/a11y/useSemanticElements: a fieldset is for inputs
    <div aria-label={cluster.name} className="iotide-cluster" role="group">
      <div className="iotide-cluster-head">
        <ClusterLink fw={600} id={cluster.id} name={cluster.name} />
        <OriginBadge clusterId={cluster.id} />
        <Nodes cluster={cluster} />
        {actionsOf?.(cluster.id)}
      </div>
      {cells.length === 0 ? (
        <Hint>{t`not measured in this period`}</Hint>
      ) : (
        <ul className="iotide-status-cells">
          {cells.map((cell) => (
            <li key={cell.workload}>
              <StatusCell cell={cell} periodSeconds={periodSeconds} />
            </li>
          ))}
        </ul>
      )}
    </div>
  );
}

function Nodes({ cluster: { id, nodes } }: { cluster: BoardCluster }) {
  const { online, stuck, silent, never_seen, drained, passed_over } = nodes;
  const origin = useOrigin(id);
  const troubles = [
    [stuck, t`stuck`, "red"],
    [silent, "silent", "orange"],
    [passed_over, t`skipped`, "orange"],
    [never_seen, t`never seen`, "orange"],
    [drained, "drained", "orange"],
  ] as const;
  if (origin === "made_up") return null;
  if (online + stuck + silent + never_seen === 0)
    return <ClusterLink id={id} name={t`no nodes yet`} size="sm" />;
  return (
    <>
      <Hint component="span">{online === 1 ? t`1 node online` : t`${online} nodes online`}</Hint>
      {troubles
        .filter(([count]) => count > 0)
        .map(([count, what, color]) => (
          <Badge color={color} key={what} w="max-content">
            {count} {what}
          </Badge>
        ))}
    </>
  );
}

function Legend() {
  return (
    <details>
      <summary>{t`Legend`}</summary>
      <List size="sm">
        {Object.values(STATE_WORDS).map(({ sign, word, meaning }) => (
          <List.Item key={word}>
            {sign} {word}: {meaning}
          </List.Item>
        ))}
      </List>
      <Text size="sm">
        <Trans>
          A cell shows its worst series: medians (thin), levels (thick) and changes (dashed) up to now. The
          line names the event nearest to the change. The healthy level of a series is its best level since a
          user marked a change as expected or as noise. The period selects the series and recoveries that are
          listed. It never changes a state, and stale series are always listed. A baseline needs at least 14
          data points, and a usual gap needs points on 4 days. Metrics without a better direction (such as CPU
          use) and retired nodes and targets are excluded. Drained or skipped nodes also count as online,
          stuck, silent or never seen. A stuck node that becomes silent counts as silent.
        </Trans>
      </Text>
    </details>
  );
}
