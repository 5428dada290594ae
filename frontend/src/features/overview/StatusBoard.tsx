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
import { changedCells, ofCluster, STATE_WORDS, shareOf, summaryOf } from "./standings";

const PERIODS = [7, 30, 90, 365] as const;
type Period = (typeof PERIODS)[number];

const USUAL_DAYS = 90;

interface StatusBoardProps {
  /** Undefined: all clusters. */
  readonly clusterId?: number;
  readonly days: Period | undefined;
  readonly onDays: (days: Period | undefined) => void;
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
        description={t`Current performance of each workload compared with its last healthy level.`}
        title={t`Status board`}
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
  const found = changedCells(board.cells);
  return (
    <Stack gap="sm">
      <Text fw={600} size="sm">
        <Trans>
          {summaryOf(board.cells) || t`no measurements`}, since <Day at={board.since} />
        </Trans>
      </Text>
      <BoardTable actionsOf={actionsOf} board={board} />
      {found.length > 0 && <ChangedTable cells={found} clusters={board.clusters} />}
      {board.is_cut && <Text size="sm">{t`Too many series to evaluate. Only the newest are included.`}</Text>}
      <Legend />
    </Stack>
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
          The healthy level of a series is its best level since a user marked a change as expected or as
          noise. The period selects the series and recoveries that are listed. It never changes a state, and
          stale series are always listed. A cell shows its worst series. A baseline needs at least 14 data
          points, and a usual gap needs points on 4 days. Metrics without a better direction (such as CPU use)
          and retired nodes and targets are excluded. Drained or skipped nodes also count as online, stuck,
          silent or never seen. A stuck node that becomes silent counts as silent.
        </Trans>
      </Text>
    </details>
  );
}

interface LookAtTableProps {
  readonly cells: readonly BoardCell[];
  readonly clusters: readonly BoardCluster[];
}

function ChangedTable({ cells, clusters }: LookAtTableProps) {
  const names = new Map(clusters.map(({ id, name }) => [id, name]));
  return (
    <ScrollTable
      head={[t`State`, t`Largest change`, t`Details`, t`Since`, t`Series affected`, t`Open alerts`]}
      label={t`Series to check`}
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
          {cell.since ? <When at={cell.since} /> : t`no clear start date`}
          {shareOf(cell)}
          {cell.open_alerts === 0 ? (
            t`none`
          ) : (
            <TextLink search={{ cluster: cell.cluster_id }} to="/alerts">
              {t`${cell.open_alerts} open`}
            </TextLink>
          )}
        </Row>
      ))}
    </ScrollTable>
  );
}

function State({ cell: { state } }: { cell: BoardCell }) {
  const { sign, word, colour } = STATE_WORDS[state];
  return (
    <Badge color={colour} miw="max-content">
      <span aria-hidden="true">{sign}</span> {word}
    </Badge>
  );
}
