/** What changed lately in all series, with what happened near it and the way to the trend at that place. */

import { t } from "@lingui/core/macro";
import { Trans } from "@lingui/react/macro";
import { Group, Stack, Switch, Text } from "@mantine/core";
import { useInfiniteQuery } from "@tanstack/react-query";
import type { Cluster, NamedChange } from "@/api/types";
import { DirectionBadge, UnconfirmedBadge } from "@/components/badges";
import { ChoiceFilter } from "@/components/filters";
import { IntervalMark } from "@/components/IntervalMark";
import { type Interval, reachOf } from "@/components/interval";
import { TextLink } from "@/components/links";
import { Detail } from "@/components/looks";
import { RowOriginBadge, SampleNote } from "@/components/Origin";
import { Loaded, Section, ShowMore } from "@/components/Page";
import { Row, ScrollTable } from "@/components/ScrollTable";
import { SeriesName } from "@/components/SeriesName";
import { Datum, Quantity, When } from "@/components/values";
import { formatP } from "@/lib/units";
import { changesQuery } from "./queries";

const HEAD = [t`Series`, t`What`, t`Since`, t`Before`, t`After`, "p", t`Events near it`];

const NO_CHANGE = t`No change is known. A series is looked at after each of its points, from the fourteenth on: five against nine is the least that can show one.`;

/** The part of the address that belongs to the list. */
export interface ChangesView {
  readonly workload?: string | undefined;
  readonly direction?: "better" | "worse" | undefined;
  readonly unconfirmed?: boolean | undefined;
}

interface ChangesListProps {
  readonly clusters: readonly Cluster[];
  /** Undefined: all of them. */
  readonly clusterId: number | undefined;
  /** Names to choose from. */
  readonly workloads: readonly string[];
  readonly view: ChangesView;
  readonly onView: (change: ChangesView) => void;
}

export function ChangesList({ clusters, clusterId, workloads, view, onView }: ChangesListProps) {
  const { workload, direction, unconfirmed } = view;
  const changes = useInfiniteQuery(
    changesQuery({ clusterId, workload, direction, withUnconfirmed: unconfirmed }),
  );
  const reach = reachOf((changes.data ?? []).flatMap(({ change }) => shiftOf(change) ?? []));
  const names = new Map(clusters.map(({ id, name }) => [id, name]));
  const isFiltered = workload !== undefined || direction !== undefined || clusterId !== undefined;
  return (
    <Section
      actions={<Filters onView={onView} view={view} workloads={workloads} />}
      description={t`Changes of level, the newest found first. Two analyses of different numbers of points agree on each that is confirmed.`}
      title={t`Changes`}
    >
      <Loaded empty={isFiltered ? t`No change of these is known.` : NO_CHANGE} lines={8} query={changes}>
        {(rows) => (
          <Stack>
            <SampleNote clusterIds={rows.map(({ series }) => series.cluster_id)} />
            <ScrollTable head={HEAD} label={t`Changes`}>
              {rows.map((found) => (
                <ChangeRow
                  reach={reach}
                  clusterName={clusterId === undefined ? names.get(found.series.cluster_id) : undefined}
                  found={found}
                  key={found.change.id}
                />
              ))}
            </ScrollTable>
            <ShowMore query={changes} />
          </Stack>
        )}
      </Loaded>
    </Section>
  );
}

function Filters({ workloads, view, onView }: Pick<ChangesListProps, "workloads" | "view" | "onView">) {
  return (
    <Group gap="sm">
      <ChoiceFilter
        all={t`All workloads`}
        choices={workloads}
        label={t`Workload`}
        onChoose={(workload) => onView({ workload })}
        value={view.workload}
      />
      <ChoiceFilter
        all={t`Better and worse`}
        choices={[
          { value: "worse", label: t`Worse alone` },
          { value: "better", label: t`Better alone` },
        ]}
        label={t`Direction`}
        onChoose={(direction) => onView({ direction })}
        value={view.direction}
      />
      <Switch
        checked={view.unconfirmed ?? false}
        label={t`Not confirmed yet, too`}
        onChange={(event) => onView({ unconfirmed: event.currentTarget.checked || undefined })}
        size="sm"
      />
    </Group>
  );
}

interface ChangeRowProps {
  readonly found: NamedChange;
  readonly clusterName: string | undefined;
  /** How far the drawings of the table reach. */
  readonly reach: number;
}

/** A change is told with its p and not with an interval, so it is drawn as a dot; none where the level was 0 before. */
function shiftOf({ shift_ratio: shift }: NamedChange["change"]): Interval | null {
  return shift === null ? null : { ratio: 1 + shift, low: null, high: null };
}

function ChangeRow({ found, clusterName, reach }: ChangeRowProps) {
  const { series, change } = found;
  const shift = shiftOf(change);
  return (
    <Row>
      <td className="iotide-wrap">
        <SeriesName
          cellId={change.cell_id}
          clusterId={series.cluster_id}
          clusterName={clusterName}
          series={series}
        />
        <RowOriginBadge clusterId={series.cluster_id} />
      </td>
      <td className="iotide-wrap">
        <Group gap="xs">
          <DirectionBadge change={change} />
          {shift && <IntervalMark of={shift} reach={reach} />}
        </Group>
        {change.words}
        {change.confirmed_at === null && <UnconfirmedBadge />}
      </td>
      <td>
        <When at={change.at} />
        <Detail>
          <Trans>
            after <When at={change.previous_at} />
          </Trans>
        </Detail>
      </td>
      <Quantity unit={series.unit} value={change.median_before} />
      <Quantity unit={series.unit} value={change.median_after} />
      <Datum value={change.p_value}>{formatP(change.p_value)}</Datum>
      <td className="iotide-wrap">
        <Events found={found} />
      </td>
    </Row>
  );
}

/** The row of a change stays one row to read; the trend has the others. */
const SHOWN_EVENTS = 5;

function Events({ found: { series, change, events, events_more: more } }: { found: NamedChange }) {
  if (events.length === 0) return <Text c="dimmed">{t`none known`}</Text>;
  const earlier = more + Math.max(0, events.length - SHOWN_EVENTS);
  return (
    <>
      {earlier > 0 && (
        <TextLink
          params={{ clusterId: series.cluster_id }}
          search={{
            workload: series.workload,
            metric: series.metric,
            series: [series.id],
            cell: change.cell_id,
          }}
          size="xs"
          to="/clusters/$clusterId/trend"
        >
          {t`${earlier} earlier events`}
        </TextLink>
      )}
      {events.slice(-SHOWN_EVENTS).map(({ id, at, text, told_by }) => (
        <div key={id}>
          {text}
          <Detail>
            <Trans>
              <When at={at} />, source: {told_by ?? t`runs`}
            </Trans>
          </Detail>
        </div>
      ))}
    </>
  );
}
