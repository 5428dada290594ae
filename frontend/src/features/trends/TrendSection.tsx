/** The trend of one workload on a cluster: what to draw, the chart, and the runs behind a chosen point. */

import { Group, MultiSelect, NativeSelect, SegmentedControl, Stack, Switch, Text } from "@mantine/core";
import { type UseQueryResult, useQueries, useQuery } from "@tanstack/react-query";
import { type ReactNode, useCallback, useEffect, useEffectEvent, useMemo } from "react";
import type { Points, Series, SeriesAnalysis, Workload } from "@/api/types";
import { ErrorNotice } from "@/components/ErrorNotice";
import { Loaded } from "@/components/Loaded";
import { useTitlesOf } from "@/components/optionTitles";
import { Section } from "@/components/Page";
import { plainTitle } from "@/lib/options";
import { MAX_TRACES } from "@/plots/figure";
import { ChangesSection } from "./ChangesSection";
import { EventsSection } from "./EventsSection";
import { nameSeries, nameVariant } from "./names";
import { analysisQuery, pointsQuery, seriesQuery } from "./queries";
import { type Selection, selectSeries, type TrendView } from "./selection";
import { type ChosenPoint, type NamedPoints, TrendChart, TrendTable } from "./TrendChart";

interface TrendSectionProps {
  readonly clusterId: number;
  readonly workload: Workload;
  readonly view: TrendView;
  /** Changes parts of the address. */
  readonly onView: (change: TrendView) => void;
  readonly renderRuns: (point: ChosenPoint & { campaignId: number }) => ReactNode;
}

export function TrendSection({ clusterId, workload, view, onView, renderRuns }: TrendSectionProps) {
  const series = useQuery(seriesQuery(clusterId, workload.name));
  return (
    <Loaded
      empty={
        <Text c="dimmed">No point yet for {workload.title}: each finished cell of a campaign makes one.</Text>
      }
      isEmpty={(rows) => rows.length === 0}
      lines={8}
      query={series}
    >
      {(rows) => <Trend all={rows} onView={onView} renderRuns={renderRuns} view={view} workload={workload} />}
    </Loaded>
  );
}

type TrendProps = Omit<TrendSectionProps, "clusterId"> & { readonly all: readonly Series[] };

function Trend({ all, workload, view, onView, renderRuns }: TrendProps) {
  const selection = useMemo(
    () =>
      selectSeries(
        all,
        workload.metrics.map(({ name }) => name),
        view,
      ),
    [all, workload, view],
  );
  const metricTitle =
    workload.metrics.find(({ name }) => name === selection.metric)?.title ?? plainTitle(selection.metric);
  const titlesOf = useTitlesOf();
  const names = useMemo(
    () => nameSeries(selection.candidates, titlesOf(workload.name)),
    [selection, titlesOf, workload],
  );
  useKeptChoice(selection, onView);
  const { lines, failed, isPending } = useLines(selection, names);
  const analyses = useAnalyses(selection);
  const chosen = chosenPoint(lines, view);
  return (
    <Stack>
      <Pickers names={names} onView={onView} selection={selection} view={view} workload={workload} />
      {failed && <ErrorNotice error={failed} />}
      {isPending && <Text c="dimmed">Loading points …</Text>}
      {view.view === "table" ? (
        <TrendTable lines={lines} onChoose={({ cellId }) => onView({ cell: cellId })} />
      ) : (
        <TrendChart
          analyses={analyses}
          chosenCellId={view.cell}
          fromZero={!view.zoomed}
          lines={lines}
          metricTitle={metricTitle}
          onChoose={({ cellId }) => onView({ cell: cellId })}
        />
      )}
      {selection.drawn.length < selection.candidates.length && <NotAll selection={selection} />}
      <ChangesSection analyses={analyses} lines={lines} onChoose={({ cellId }) => onView({ cell: cellId })} />
      <EventsSection analyses={analyses} lines={lines} />
      <Section description="Choose a dot of the chart or a row of the table." title="Runs of a point">
        {chosen ? renderRuns(chosen) : <Text c="dimmed">No point is chosen.</Text>}
      </Section>
    </Stack>
  );
}

function NotAll({ selection }: { selection: Selection }) {
  return (
    <Text c="dimmed" size="sm">
      {selection.drawn.length} of {selection.candidates.length} series are drawn; a chart holds {MAX_TRACES}{" "}
      at most.
    </Text>
  );
}

/** Puts a first choice into the address: another one would be made as soon as points come in. */
function useKeptChoice(
  { drawn, isFirstChoice, metric, target, variant }: Selection,
  onView: TrendProps["onView"],
) {
  const keep = useEffectEvent(() => onView({ series: drawn.map(({ id }) => id) }));
  // biome-ignore lint/correctness/useExhaustiveDependencies: another metric, target or variant is another first choice
  useEffect(() => {
    if (isFirstChoice) keep();
  }, [isFirstChoice, metric, target, variant]);
}

/** The points of the drawn series, as far as they have come. */
function useLines({ drawn }: Selection, names: SeriesNames) {
  const combine = useCallback(
    (results: readonly UseQueryResult<Points>[]) => ({
      lines: results.flatMap(({ data }): NamedPoints[] =>
        data ? [{ name: names.get(data.series.id) ?? `series ${data.series.id}`, points: data }] : [],
      ),
      failed: results.find(({ error }) => error)?.error ?? null,
      isPending: results.some((result) => result.isPending),
    }),
    [names],
  );
  return useQueries({ queries: drawn.map(({ id }) => pointsQuery(id)), combine });
}

/** By series the last analysis of each that is drawn, as far as they have come. */
function useAnalyses({ drawn }: Selection): ReadonlyMap<number, SeriesAnalysis> {
  const combine = useCallback(
    (results: readonly UseQueryResult<SeriesAnalysis>[]) =>
      new Map(results.flatMap(({ data }) => (data ? [[data.series_id, data] as const] : []))),
    [],
  );
  return useQueries({ queries: drawn.map(({ id }) => analysisQuery(id)), combine });
}

function chosenPoint(lines: readonly NamedPoints[], { cell }: TrendView) {
  for (const { points } of lines) {
    const index = cell === undefined ? -1 : points.cell_id.indexOf(cell);
    const campaignId = points.campaign_id[index];
    if (cell !== undefined && campaignId !== undefined)
      return { seriesId: points.series.id, cellId: cell, campaignId };
  }
  return undefined;
}

type SeriesNames = ReadonlyMap<number, string>;

interface PickersProps {
  readonly names: SeriesNames;
  readonly workload: Workload;
  readonly selection: Selection;
  readonly view: TrendView;
  readonly onView: (change: TrendView) => void;
}

function Pickers({ names, workload, selection, view, onView }: PickersProps) {
  const titles = new Map(workload.metrics.map(({ name, title }) => [name, title]));
  return (
    <Stack gap="xs">
      <Group align="flex-end">
        <NativeSelect
          data={selection.metrics.map((name) => ({
            value: name,
            label: titles.get(name) ?? plainTitle(name),
          }))}
          label="Metric"
          onChange={(event) =>
            onView({ metric: event.currentTarget.value, series: undefined, cell: undefined })
          }
          value={selection.metric}
        />
        <NativeSelect
          data={[{ value: "", label: "All targets" }, ...selection.targets]}
          label="Target"
          onChange={(event) =>
            onView({ target: event.currentTarget.value || undefined, series: undefined, cell: undefined })
          }
          value={selection.target ?? ""}
        />
        <VariantPicker onView={onView} selection={selection} />
        <SegmentedControl
          aria-label="View"
          data={["Chart", "Table"]}
          onChange={(chosen) => onView({ view: chosen === "Table" ? "table" : undefined })}
          value={view.view === "table" ? "Table" : "Chart"}
        />
        <Switch
          checked={!view.zoomed}
          label="Axis from zero"
          mb={8}
          onChange={(event) => onView({ zoomed: event.currentTarget.checked ? undefined : true })}
        />
      </Group>
      <MetricDescription metric={selection.metric} workload={workload} />
      <MultiSelect
        clearable
        data={selection.candidates.map(({ id }) => ({
          value: String(id),
          label: names.get(id) ?? `series ${id}`,
        }))}
        label="Series"
        maxValues={MAX_TRACES}
        onChange={(ids) => onView({ series: ids.length > 0 ? ids.map(Number) : undefined })}
        searchable
        value={selection.drawn.map(({ id }) => String(id))}
      />
    </Stack>
  );
}

/** What exactly a metric is, where its title does not say it. */
function MetricDescription({ workload, metric }: { workload: Workload; metric: string }) {
  const description = workload.metrics.find(({ name }) => name === metric)?.description;
  if (!description) return null;
  return (
    <Text c="dimmed" size="sm">
      {description}
    </Text>
  );
}

const ALL_VARIANTS = -1;

/** A variant may have any name, so that a choice is known by its place. */
function VariantPicker({ selection, onView }: Pick<PickersProps, "selection" | "onView">) {
  const { variants, variant } = selection;
  if (variants.length < 2) return null;
  const named = variants.map((name, place) => ({ value: String(place), label: nameVariant(name) }));
  return (
    <NativeSelect
      data={[{ value: String(ALL_VARIANTS), label: "All variants" }, ...named]}
      label="Variant"
      onChange={(event) => {
        const chosen = variants[Number(event.currentTarget.value)];
        onView({ variant: chosen, series: undefined, cell: undefined });
      }}
      value={String(variant === undefined ? ALL_VARIANTS : variants.indexOf(variant))}
    />
  );
}
