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
import { Reasons } from "@/components/Reasons";
import { Row, ScrollTable } from "@/components/ScrollTable";
import { SeriesName } from "@/components/SeriesName";
import { Datum, Quantity, When } from "@/components/values";
import { formatP } from "@/lib/units";
import { changesQuery } from "./queries";

const HEAD = [t`Series`, t`Change`, t`Since`, t`Before`, t`After`, "p", t`Events around that time`];

const NO_CHANGE = t`No changes detected. A series is analysed after each data point once it has 14 points: 5 on one side and 9 on the other are the minimum.`;

export interface ChangesView {
  readonly workload?: string | undefined;
  readonly direction?: "better" | "worse" | undefined;
  readonly unconfirmed?: boolean | undefined;
}

interface ChangesListProps {
  readonly clusters: readonly Cluster[];
  /** Undefined: all clusters. */
  readonly clusterId: number | undefined;
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
      description={t`Detected level changes, most recently detected first. “Confirmed” means that two analyses with different numbers of points agree.`}
      title={t`Changes`}
    >
      <Loaded empty={isFiltered ? t`No changes match.` : NO_CHANGE} lines={8} query={changes}>
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
        all={t`Regressions and improvements`}
        choices={[
          { value: "worse", label: t`Regressions only` },
          { value: "better", label: t`Improvements only` },
        ]}
        label={t`Direction`}
        onChoose={(direction) => onView({ direction })}
        value={view.direction}
      />
      <Switch
        checked={view.unconfirmed ?? false}
        label={t`Include unconfirmed`}
        onChange={(event) => onView({ unconfirmed: event.currentTarget.checked || undefined })}
        size="sm"
      />
    </Group>
  );
}

interface ChangeRowProps {
  readonly found: NamedChange;
  readonly clusterName: string | undefined;
  /** Largest ratio drawn in the table. */
  readonly reach: number;
}

/** A change has a p-value but no interval, so it is drawn as a dot; none if the previous level is 0. */
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
        <Reasons reasons={change.reasons} />
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

/** Keeps rows short; the trend page lists the others. */
const SHOWN_EVENTS = 5;

function Events({ found: { series, change, events, events_more: more } }: { found: NamedChange }) {
  if (events.length === 0) return <Text c="dimmed">{t`none`}</Text>;
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
