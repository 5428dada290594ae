import { t } from "@lingui/core/macro";
import { Trans } from "@lingui/react/macro";
import { Button, Group, Skeleton, Stack, Text } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { useNavigate } from "@tanstack/react-router";
import { type ReactNode, useEffect, useEffectEvent, useMemo, useState } from "react";
import type { MetricBoard, Series, Workload } from "@/api/types";
import { Hint } from "@/components/looks";
import { useTitlesOf } from "@/components/optionTitles";
import { ErrorNotice, Loaded, Section } from "@/components/Page";
import { plainTitle } from "@/lib/options";
import { formatCount } from "@/lib/units";
import { MAX_TRACES } from "@/plots/figure";
import type { Span } from "@/plots/timeAxis";
import type { RangePair } from "@/plots/trendNotes";
import { ChangesSection } from "./ChangesSection";
import { type Analyses, type ChosenPoint, chartEvents, type NamedPoints } from "./drawn";
import { EventsSection } from "./EventsSection";
import { GapsSection, StaleNotice } from "./GapsSection";
import { useAnalyses, useLines } from "./loaded";
import { nameSeries } from "./names";
import { metricBoardQuery, seriesQuery } from "./queries";
import { RangeComparison } from "./RangeComparison";
import { firstRanges, rangesOf, viewOf } from "./ranges";
import { SupersededNotice } from "./SupersededNotice";
import { type Selection, selectSeries, type TrendView } from "./selection";
import { TimeRange } from "./TimeRange";
import { TrendChart } from "./TrendChart";
import { TrendPickers } from "./TrendPickers";
import { TrendTable } from "./TrendTable";

interface TrendSectionProps {
  readonly clusterId: number;
  readonly workload: Workload;
  /** Says what is drawn. */
  readonly title: string;
  readonly view: TrendView;
  readonly onView: (change: TrendView) => void;
  readonly renderIncidents: (seriesIds: readonly number[]) => ReactNode;
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
      {(rows) => <FirstChoice all={rows} {...props} />}
    </Loaded>
  );
}

interface TrendProps extends TrendSectionProps {
  readonly all: readonly Series[];
  /** States of the series, if the address chooses none. */
  readonly board?: MetricBoard | undefined;
}

/** Waits for the states of the series where the address chooses none, to begin with the worst. */
function FirstChoice(props: TrendProps) {
  const { all, clusterId, workload, view } = props;
  const { isFirstChoice } = selectSeries(all, namesOf(workload), view);
  const choice = { clusterId, workload: workload.name, metric: view.metric };
  const board = useQuery({ ...metricBoardQuery(choice), enabled: isFirstChoice });
  if (isFirstChoice && (board.isPending || board.isPlaceholderData))
    return <Skeleton aria-label={t`Loading`} height={380} role="status" />;
  return <Trend {...props} board={isFirstChoice ? board.data : undefined} />;
}

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
      <SpanNotice isPending={isPending} lines={lines} />
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
    </Stack>
  );
}

function namesOf({ metrics }: Workload): readonly string[] {
  return metrics.map(({ name }) => name);
}

function useSelection({ all, workload, view, board }: TrendProps) {
  const selection = useMemo(
    () => selectSeries(all, namesOf(workload), view, board),
    [all, workload, view, board],
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

interface RangeBarProps {
  readonly analyses: Analyses;
  readonly span: Span;
  readonly ranges: RangePair | undefined;
  readonly onView: TrendProps["onView"];
}

function RangeBar({ analyses, span, ranges, onView }: RangeBarProps) {
  return (
    <Group gap="sm">
      <TimeRange onSpan={onView} span={span} />
      {!ranges && (
        <Button
          onClick={() => onView(viewOf(firstRanges(analyses, Date.now())))}
          size="compact-sm"
          variant="default"
        >
          {t`Compare two time ranges`}
        </Button>
      )}
    </Group>
  );
}

interface DrawnProps extends TrendProps {
  readonly lines: readonly NamedPoints[];
  readonly selection: Selection;
  readonly metricTitle: string;
  readonly span: Span;
  readonly onChoose: (point: ChosenPoint) => void;
}

function Drawn(props: DrawnProps) {
  const { lines, selection, metricTitle, title, span, view, onView, onChoose } = props;
  const analyses = useAnalyses(selection.drawn);
  const ranges = useMemo(() => rangesOf(view), [view]);
  const navigate = useNavigate();
  const [pointedAtId, setPointedAtId] = useState<number | null>(null);
  const shownEvents = useMemo(() => chartEvents(lines, analyses, view.event), [lines, analyses, view.event]);
  const chooseEvent = (event: number | undefined) => onView({ event });
  return (
    <>
      <RangeBar analyses={analyses} onView={onView} ranges={ranges} span={span} />
      {view.view === "table" ? (
        <TrendTable lines={lines} onChoose={onChoose} span={span} />
      ) : (
        <TrendChart
          {...{ analyses, lines, metricTitle, onChoose, ranges, shownEvents, span, title }}
          chosenCellId={view.cell}
          fromZero={!view.zoomed}
          onEvent={chooseEvent}
          onPointEvent={setPointedAtId}
          onRun={(runId) => void navigate({ to: "/runs/$runId", params: { runId } })}
          onSpan={onView}
        />
      )}
      {ranges && <RangeComparison lines={lines} onView={onView} ranges={ranges} />}
      {selection.drawn.length < selection.candidates.length && <NotAll selection={selection} />}
      {selection.drawn.length > 0 && props.renderIncidents(selection.drawn.map(({ id }) => id))}
      <ChangesSection analyses={analyses} lines={lines} onChoose={onChoose} />
      <GapsSection lines={lines} />
      <EventsSection {...{ analyses, lines, pointedAtId }} chosenId={view.event} onChoose={chooseEvent} />
    </>
  );
}

/** Number of points not drawn. */
function SpanNotice({ lines, isPending }: { lines: readonly NamedPoints[]; isPending: boolean }) {
  const leftOut = lines.reduce((sum, { points }) => sum + points.left_out, 0);
  if (!isPending && leftOut === 0) return null;
  return (
    <Group gap="xs" role="status">
      {isPending && <Text c="dimmed">{t`Loading points …`}</Text>}
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
        {selection.drawn.length} of {selection.candidates.length} series are drawn. Choose up to {MAX_TRACES}{" "}
        above. By default they are of one quantity and order of magnitude.
      </Trans>
    </Hint>
  );
}

/** Stores the default selection in the address. Otherwise it would change when points arrive. */
function useKeptChoice(
  { drawn, isFirstChoice, metric, target, variant }: Selection,
  onView: TrendProps["onView"],
) {
  const keep = useEffectEvent(() => onView({ metric, series: drawn.map(({ id }) => id) }));
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
