/** What changed lately in all series, with what happened near it and the way to the trend at that place. */

import { Badge, Group, NativeSelect, Stack, Switch, Text } from "@mantine/core";
import { useInfiniteQuery } from "@tanstack/react-query";
import type { Cluster, NamedChange } from "@/api/types";
import { DirectionBadge } from "@/components/DirectionBadge";
import { Loaded } from "@/components/Loaded";
import { MadeUpBadge } from "@/components/MadeUp";
import { Section } from "@/components/Page";
import { Quantity } from "@/components/Quantity";
import { ScrollTable } from "@/components/ScrollTable";
import { SeriesName } from "@/components/SeriesName";
import { ShowMore } from "@/components/ShowMore";
import { When } from "@/components/When";
import { formatP } from "@/lib/units";
import { changesQuery } from "./queries";

const HEAD = ["Series", "What", "Since", "Before", "After", "p", "Events near it"];

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
  const names = new Map(clusters.map(({ id, name }) => [id, name]));
  const isFiltered = workload !== undefined || direction !== undefined || clusterId !== undefined;
  return (
    <Section
      actions={<Filters onView={onView} view={view} workloads={workloads} />}
      description="Changes of level, the newest found first. Two analyses of different numbers of points agree on each that is confirmed."
      title="Changes"
    >
      <Loaded
        empty={<NoChange isFiltered={isFiltered} />}
        isEmpty={(rows) => rows.length === 0}
        lines={8}
        query={changes}
      >
        {(rows) => (
          <Stack>
            <ScrollTable head={HEAD} label="Changes">
              {rows.map((found) => (
                <ChangeRow
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
      <NativeSelect
        aria-label="Workload"
        data={[{ value: "", label: "All workloads" }, ...workloads]}
        onChange={(event) => onView({ workload: event.currentTarget.value || undefined })}
        size="xs"
        value={view.workload ?? ""}
      />
      <NativeSelect
        aria-label="Direction"
        data={[
          { value: "", label: "Better and worse" },
          { value: "worse", label: "Worse alone" },
          { value: "better", label: "Better alone" },
        ]}
        onChange={({ currentTarget: { value } }) =>
          onView({ direction: value === "better" || value === "worse" ? value : undefined })
        }
        size="xs"
        value={view.direction ?? ""}
      />
      <Switch
        checked={view.unconfirmed ?? false}
        label="Not confirmed yet, too"
        onChange={(event) => onView({ unconfirmed: event.currentTarget.checked || undefined })}
        size="sm"
      />
    </Group>
  );
}

function NoChange({ isFiltered }: { isFiltered: boolean }) {
  if (isFiltered) return <Text c="dimmed">No change of these is known.</Text>;
  return (
    <Text c="dimmed">
      No change is known. A series is looked at after each of its points, from the fourteenth on: five against
      nine is the least that can show one.
    </Text>
  );
}

interface ChangeRowProps {
  readonly found: NamedChange;
  readonly clusterName: string | undefined;
}

function ChangeRow({ found: { series, change, events }, clusterName }: ChangeRowProps) {
  return (
    <tr>
      <td className="iotide-wrap">
        <SeriesName
          cellId={change.cell_id}
          clusterId={series.cluster_id}
          clusterName={clusterName}
          series={series}
        />
        <MadeUpBadge clusterId={series.cluster_id} />
      </td>
      <td className="iotide-wrap">
        <DirectionBadge change={change} /> {change.words}
        {change.confirmed_at === null && <Unconfirmed />}
      </td>
      <td>
        <When at={change.at} />
        <Text c="dimmed" size="xs">
          after <When at={change.previous_at} />
        </Text>
      </td>
      <td>
        <Quantity unit={series.unit} value={change.median_before} />
      </td>
      <td className="iotide-strong">
        <Quantity unit={series.unit} value={change.median_after} />
      </td>
      <td>{formatP(change.p_value)}</td>
      <td className="iotide-wrap">
        <Events events={events} />
      </td>
    </tr>
  );
}

function Unconfirmed() {
  return (
    <Badge color="orange" ml="xs" tt="none" variant="light">
      not confirmed yet
    </Badge>
  );
}

function Events({ events }: Pick<NamedChange, "events">) {
  if (events.length === 0) return <Text c="dimmed">none known</Text>;
  return events.map(({ id, at, text, told_by }) => (
    <div key={id}>
      {text}
      <Text c="dimmed" size="xs">
        <When at={at} />, told by {told_by ?? "runs"}
      </Text>
    </div>
  ));
}
