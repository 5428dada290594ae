import { t } from "@lingui/core/macro";
import { Trans } from "@lingui/react/macro";
import { Alert, Button, Group, Stack, Text } from "@mantine/core";
import { keepPreviousData, type UseQueryResult, useQueries, useQuery } from "@tanstack/react-query";
import { useNavigate } from "@tanstack/react-router";
import { type ReactNode, useCallback, useEffect, useEffectEvent, useMemo, useState } from "react";
import type { Points, Series, SeriesAnalysis, Workload } from "@/api/types";
import { Hint } from "@/components/looks";
import { useTitlesOf } from "@/components/optionTitles";
import { ErrorNotice, Loaded, Section } from "@/components/Page";
import { describeValues, plainTitle } from "@/lib/options";
import { formatExactTime } from "@/lib/time";
import { formatCount } from "@/lib/units";
import { MAX_TRACES } from "@/plots/figure";
import { ChangesSection } from "./ChangesSection";
import { type Analyses, type ChosenPoint, chartEvents, type NamedPoints } from "./drawn";
import { EventsSection } from "./EventsSection";
import { GapsSection, StaleNotice } from "./GapsSection";
import { nameSeries } from "./names";
import { analysisQuery, pointsQuery, type Span, seriesQuery } from "./queries";
import { SmallCharts } from "./SmallCharts";
import { type Selection, selectSeries, type TrendView } from "./selection";
import { TrendChart } from "./TrendChart";
import { TrendPickers } from "./TrendPickers";
import { TrendTable } from "./TrendTable";

interface TrendSectionProps {
  readonly clusterId: number;
  readonly workload: Workload;
  readonly clusterNames: ReadonlyMap<number, string>;
  readonly view: TrendView;
  readonly onView: (change: TrendView) => void;
  readonly renderRuns: (point: ChosenPoint & { campaignId: number }) => ReactNode;
}

export function TrendSection(props: TrendSectionProps) {
  const { clusterId, workload } = props;
  const series = useQuery(seriesQuery(clusterId, workload.name));
  return (
    <Loaded
      empty={t`No data points for ${workload.title} yet. Each finished configuration of a campaign adds one.`}
      lines={8}
      query={series}
    >
      {(rows) => <Trend all={rows} {...props} />}
    </Loaded>
  );
}

type TrendProps = TrendSectionProps & { readonly all: readonly Series[] };

function Trend(props: TrendProps) {
  const { all, workload, view, onView, renderRuns } = props;
  const { selection, names, metricTitle } = useSelection(props);
  useKeptChoice(selection, onView);
  const span = useSpan(view);
  const { lines, failed, isPending } = useLines(selection.drawn, names, span);
  const chosen = chosenPoint(lines, view);
  const choose = ({ cellId }: ChosenPoint) => onView({ cell: cellId });
  return (
    <Stack>
      <TrendPickers names={names} onView={onView} selection={selection} view={view} workload={workload} />
      <SupersededNotice listed={all} span={span} wanted={view.series} />
      {failed && <ErrorNotice error={failed} />}
      <StaleNotice lines={lines} />
      <SpanNotice isPending={isPending} lines={lines} onView={onView} span={span} />
      <Drawn
        {...props}
        lines={lines}
        metricTitle={metricTitle}
        onChoose={choose}
        selection={selection}
        span={span}
      />
      <Section
        description={t`Click a point in the chart or a row in the table.`}
        title={t`Runs behind this data point`}
      >
        {chosen ? renderRuns(chosen) : <Text c="dimmed">{t`No point selected.`}</Text>}
      </Section>
      <SmallCharts {...props} metric={selection.metric} metricTitle={metricTitle} span={span} />
    </Stack>
  );
}

function useSelection({ all, workload, view }: TrendProps) {
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
  return { selection, metricTitle, names };
}

/** Memoized, since it is part of query keys and figures. */
function useSpan({ from, to }: TrendView): Span {
  return useMemo(() => ({ from, to }), [from, to]);
}

interface DrawnProps extends TrendProps {
  readonly lines: readonly NamedPoints[];
  readonly selection: Selection;
  readonly metricTitle: string;
  readonly span: Span;
  readonly onChoose: (point: ChosenPoint) => void;
}

function Drawn({ lines, selection, metricTitle, span, view, onView, onChoose }: DrawnProps) {
  const analyses = useAnalyses(selection.drawn);
  const navigate = useNavigate();
  const [pointedAtId, setPointedAtId] = useState<number | null>(null);
  const shownEvents = useMemo(() => chartEvents(lines, analyses, view.event), [lines, analyses, view.event]);
  const chooseEvent = (event: number | undefined) => onView({ event });
  return (
    <>
      {view.view === "table" ? (
        <TrendTable lines={lines} onChoose={onChoose} span={span} />
      ) : (
        <TrendChart
          analyses={analyses}
          chosenCellId={view.cell}
          fromZero={!view.zoomed}
          shownEvents={shownEvents}
          lines={lines}
          metricTitle={metricTitle}
          onChoose={onChoose}
          onEvent={chooseEvent}
          onPointEvent={setPointedAtId}
          onRun={(runId) => void navigate({ to: "/runs/$runId", params: { runId } })}
          onSpan={({ from, to }) => onView({ from, to })}
          span={span}
        />
      )}
      {selection.drawn.length < selection.candidates.length && <NotAll selection={selection} />}
      <ChangesSection analyses={analyses} lines={lines} onChoose={onChoose} />
      <GapsSection lines={lines} />
      <EventsSection
        analyses={analyses}
        chosenId={view.event}
        lines={lines}
        onChoose={chooseEvent}
        pointedAtId={pointedAtId}
      />
    </>
  );
}

interface SpanNoticeProps {
  readonly lines: readonly NamedPoints[];
  readonly span: Span;
  readonly isPending: boolean;
  readonly onView: TrendProps["onView"];
}

/** Selected time span with a reset, and the number of points not drawn. */
function SpanNotice({ lines, span, isPending, onView }: SpanNoticeProps) {
  const leftOut = lines.reduce((sum, { points }) => sum + points.left_out, 0);
  if (!span.from && !isPending && leftOut === 0) return null;
  return (
    <Group gap="xs" role="status">
      {isPending && <Text c="dimmed">{t`Loading points …`}</Text>}
      {span.from && span.to && (
        <>
          <Text size="sm">{t`From ${formatExactTime(span.from)} to ${formatExactTime(span.to)}`}</Text>
          <Button
            onClick={() => onView({ from: undefined, to: undefined })}
            size="compact-sm"
            variant="default"
          >{t`Reset zoom`}</Button>
        </>
      )}
      {leftOut > 0 && (
        <Hint>
          <Trans>
            {formatCount(leftOut)} more points are not drawn; peaks and dips are kept. Zoom in to see them.
          </Trans>
        </Hint>
      )}
    </Group>
  );
}

function NotAll({ selection }: { selection: Selection }) {
  return (
    <Hint>
      <Trans>
        {selection.drawn.length} of {selection.candidates.length} series are drawn. A chart shows at most{" "}
        {MAX_TRACES}.
      </Trans>
    </Hint>
  );
}

/** Stores the default selection in the address. Otherwise it would change when points arrive. */
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

function chosenPoint(lines: readonly NamedPoints[], { cell }: TrendView) {
  for (const { points } of lines) {
    const index = cell === undefined ? -1 : points.cell_id.indexOf(cell);
    const campaignId = points.campaign_id[index];
    if (cell !== undefined && campaignId !== undefined)
      return { seriesId: points.series.id, cellId: cell, campaignId };
  }
  return undefined;
}

interface SupersededNoticeProps {
  readonly listed: readonly Series[];
  readonly wanted: readonly number[] | undefined;
  readonly span: Span;
}

/** Explains why series in the address are not drawn. */
function SupersededNotice({ listed, wanted = [], span }: SupersededNoticeProps) {
  const unlisted = wanted.filter((id) => !listed.some((series) => series.id === id)).slice(0, MAX_TRACES);
  const found = useQueries({ queries: unlisted.map((id) => pointsQuery(id, span)) });
  const titlesOf = useTitlesOf();
  return found.map(({ data }) => {
    if (data?.series.superseded == null) return null;
    const { id, title, labels, workload, superseded } = data.series;
    const name = [title, describeValues(labels, titlesOf(workload))].filter(Boolean).join(", ");
    return (
      <Alert color="orange" key={id} title={t`${name}: superseded`}>
        {superseded}
      </Alert>
    );
  });
}

/** Loaded points of the drawn series. Points of the previous span stay until the next ones arrive. */
function useLines(drawn: readonly Series[], names: ReadonlyMap<number, string>, span: Span) {
  const combine = useCallback(
    (results: readonly UseQueryResult<Points>[]) => ({
      lines: results.flatMap(({ data }): NamedPoints[] =>
        data ? [{ name: names.get(data.series.id) ?? t`series ${data.series.id}`, points: data }] : [],
      ),
      failed: results.find(({ error }) => error)?.error ?? null,
      isPending: results.some((result) => result.isPending || result.isPlaceholderData),
    }),
    [names],
  );
  return useQueries({
    queries: drawn.map(({ id }) => ({ ...pointsQuery(id, span), placeholderData: keepPreviousData })),
    combine,
  });
}

/** Loaded analyses by series id. */
function useAnalyses(drawn: readonly Series[]): Analyses {
  const combine = useCallback(
    (results: readonly UseQueryResult<SeriesAnalysis>[]) =>
      new Map(results.flatMap(({ data }) => (data ? [[data.series_id, data] as const] : []))),
    [],
  );
  return useQueries({ queries: drawn.map(({ id }) => analysisQuery(id)), combine });
}
