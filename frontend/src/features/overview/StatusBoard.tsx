/** The status board: what needs attention, clusters by workloads, and which series moved most. */

import { t } from "@lingui/core/macro";
import { Trans } from "@lingui/react/macro";
import { Badge, List, NativeSelect, Stack, Text } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import type { ReactNode } from "react";
import type { Board, BoardCell, BoardCluster } from "@/api/types";
import { TextLink } from "@/components/links";
import { Loaded, Section } from "@/components/Page";
import { Row, ScrollTable } from "@/components/ScrollTable";
import { SeriesName } from "@/components/SeriesName";
import { Day, When } from "@/components/values";
import { BoardTable } from "./BoardTable";
import { NeedsAttention } from "./NeedsAttention";
import { boardQuery } from "./queries";
import { ofCluster, STANDINGS, shareOf, summaryOf, toLookAt } from "./standings";

/** Days that a period may have. */
const PERIODS = [7, 30, 90, 365] as const;
type Period = (typeof PERIODS)[number];

const USUAL_DAYS = 90;

interface StatusBoardProps {
  /** Undefined: all of them. */
  readonly clusterId?: number;
  readonly days: Period | undefined;
  readonly onDays: (days: Period | undefined) => void;
  /** What can be done in a cluster, shown in its row. */
  readonly actionsOf?: (clusterId: number) => ReactNode;
}

export default function StatusBoard({ clusterId, days = USUAL_DAYS, onDays, actionsOf }: StatusBoardProps) {
  const board = useQuery(boardQuery(days));
  return (
    <>
      {board.data && (
        <NeedsAttention board={ofCluster(board.data, clusterId)} isOfOneCluster={clusterId !== undefined} />
      )}
      <Section
        actions={<PeriodChoice days={days} onDays={onDays} />}
        description={t`Each workload's level now, compared with its last healthy level.`}
        title={t`Status board`}
      >
        <Loaded lines={6} query={board}>
          {(found) => <Standings actionsOf={actionsOf} board={ofCluster(found, clusterId)} />}
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

function Standings({ board, actionsOf }: { board: Board; actionsOf: StatusBoardProps["actionsOf"] }) {
  const found = toLookAt(board.cells);
  return (
    <Stack gap="sm">
      <Text fw={600} size="sm">
        <Trans>
          {summaryOf(board.cells) || t`nothing was measured`}, since <Day at={board.since} />
        </Trans>
      </Text>
      <BoardTable actionsOf={actionsOf} board={board} />
      {found.length > 0 && <LookAtTable cells={found} clusters={board.clusters} />}
      {board.is_cut && (
        <Text size="sm">{t`There are more series than could be looked at: only the newest ones were.`}</Text>
      )}
      <Legend />
    </Stack>
  );
}

function Legend() {
  return (
    <details>
      <summary>{t`What the words mean`}</summary>
      <List size="sm">
        {Object.values(STANDINGS).map(({ sign, word, meaning }) => (
          <List.Item key={word}>
            {sign} {word}: {meaning}
          </List.Item>
        ))}
      </List>
      <Text size="sm">
        <Trans>
          The healthy level of a series is its best level since a person marked a change as expected or as
          noise. The period decides which series are listed and which recoveries are reported, never a state:
          stale series are always listed. A cell has the gravest state among its series. A baseline needs
          fourteen points; a usual gap needs points on four days. Metrics without a better direction, such as
          CPU use, are left out, and so is what was retired. A node that is drained or passed over also counts
          as online, stuck, silent or never seen. A stuck node that falls silent counts as silent.
        </Trans>
      </Text>
    </details>
  );
}

interface LookAtTableProps {
  readonly cells: readonly BoardCell[];
  readonly clusters: readonly BoardCluster[];
}

function LookAtTable({ cells, clusters }: LookAtTableProps) {
  const names = new Map(clusters.map(({ id, name }) => [id, name]));
  return (
    <ScrollTable
      head={[t`State`, t`What moved most`, t`What`, t`Since`, t`How many`, t`Open alerts`]}
      label={t`To look at`}
    >
      {cells.map((cell) => (
        <Row key={`${cell.cluster_id} ${cell.workload}`}>
          <State cell={cell} />
          <td className="iotide-name">
            <SeriesName
              cellId={cell.since_cell_id ?? undefined}
              clusterId={cell.cluster_id}
              clusterName={names.get(cell.cluster_id)}
              series={cell.worst}
            />
          </td>
          <td className="iotide-wrap">{cell.words}</td>
          {cell.since ? <When at={cell.since} /> : t`no moment is known`}
          {shareOf(cell)}
          {cell.open_alerts === 0 ? (
            t`none`
          ) : (
            <TextLink search={{ cluster: cell.cluster_id }} to="/alerts">
              {t`${cell.open_alerts} to be dealt with`}
            </TextLink>
          )}
        </Row>
      ))}
    </ScrollTable>
  );
}

function State({ cell: { state } }: { cell: BoardCell }) {
  const { sign, word, colour } = STANDINGS[state];
  return (
    <Badge color={colour} miw="max-content">
      <span aria-hidden="true">{sign}</span> {word}
    </Badge>
  );
}
