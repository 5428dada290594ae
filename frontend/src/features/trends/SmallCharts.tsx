/** Small multiples on common axes, drawn when scrolled into view. A drag in one zooms all. */

import { t } from "@lingui/core/macro";
import { Box } from "@mantine/core";
import { type UseQueryResult, useQueries } from "@tanstack/react-query";
import { type ReactNode, useCallback, useEffect, useMemo, useRef, useState } from "react";
import type { Points } from "@/api/types";
import { useNow } from "@/components/clock";
import { TextLink } from "@/components/links";
import { Detail, Problem } from "@/components/looks";
import { useTitlesOf } from "@/components/optionTitles";
import { ErrorNotice } from "@/components/Page";
import { useScheme } from "@/components/preferences";
import { formatDay, fromLocalTime } from "@/lib/time";
import { scaleFor } from "@/lib/units";
import { Plot } from "@/plots/Plot";
import { smallTrendFigure } from "@/plots/smallTrend";
import { endDay, type Span } from "@/plots/timeAxis";
import type { RangePair } from "@/plots/trendNotes";
import { pointsExport } from "./exports";
import { LineNames } from "./LineNames";
import { nameSeries } from "./names";
import { commonStart, type PanelScale, panelScales, type SmallGroup } from "./panels";
import { manyPointsQuery, SERIES_AT_ONCE } from "./queries";
import { viewOf } from "./ranges";

const CHART_PIXELS = 170;
const NOW_STEP_SECONDS = 600;
const NO_SCALE: PanelScale = { range: [0, 1], isOwn: false, isCut: false };

interface SmallChartsProps {
  readonly groups: readonly SmallGroup[];
  readonly metricTitle: string;
  readonly span: Span;
  readonly fromZero: boolean;
  /** Two compared ranges. */
  readonly ranges: RangePair | undefined;
  readonly onSpan: (span: { from: string | undefined; to: string | undefined }) => void;
}

export function SmallCharts(props: SmallChartsProps) {
  const { groups, span, fromZero } = props;
  const ids = useMemo(() => groups.flatMap(({ series }) => series.map(({ id }) => id)), [groups]);
  const { found, failed, isPending } = usePoints(ids, span);
  const panels = useMemo(
    () => groups.map(({ series }) => series.flatMap(({ id }) => found.get(id) ?? [])),
    [groups, found],
  );
  const scales = useMemo(() => panelScales(panels, fromZero), [panels, fromZero]);
  const shown = useMemo(
    () => ({ from: commonStart([...found.values()], span.from), to: span.to }),
    [found, span],
  );
  return (
    <>
      {failed && <ErrorNotice error={failed} />}
      <Box aria-busy={isPending} className="iotide-panels">
        {groups.map((group, place) => (
          <SmallChart
            {...props}
            group={group}
            isPending={isPending}
            key={group.title}
            points={panels[place] ?? []}
            scale={scales[place] ?? NO_SCALE}
            shown={shown}
          />
        ))}
      </Box>
    </>
  );
}

/** Points by series id, in requests of bounded size. */
function usePoints(ids: readonly number[], span: Span) {
  const parts = Array.from({ length: Math.ceil(ids.length / SERIES_AT_ONCE) }, (_, part) =>
    ids.slice(part * SERIES_AT_ONCE, (part + 1) * SERIES_AT_ONCE),
  );
  const combine = useCallback(
    (results: readonly UseQueryResult<Points[]>[]) => ({
      found: new Map(results.flatMap(({ data = [] }) => data.map((own) => [own.series.id, own] as const))),
      failed: results.find(({ error }) => error)?.error ?? null,
      isPending: results.some((result) => result.isPending),
    }),
    [],
  );
  return useQueries({ queries: parts.map((part) => manyPointsQuery(part, span)), combine });
}

interface SmallChartProps extends SmallChartsProps {
  readonly group: SmallGroup;
  readonly points: readonly Points[];
  readonly isPending: boolean;
  readonly scale: PanelScale;
  readonly shown: Span;
}

function SmallChart(props: SmallChartProps) {
  const { group, metricTitle, points, isPending, span, scale } = props;
  const isEmpty = !isPending && points.every(({ at }) => at.length === 0);
  const [first] = group.series;
  if (!first) return null;
  return (
    <section aria-label={group.title}>
      <div className="iotide-panel-title">
        <TextLink
          fw={600}
          params={{ clusterId: first.cluster_id }}
          search={{
            workload: first.workload,
            metric: first.metric,
            series: group.series.map(({ id }) => id),
            ...(span.from && { from: span.from }),
            ...(span.to && { to: span.to }),
            ...(props.ranges && viewOf(props.ranges)),
          }}
          size="sm"
          to="/clusters/$clusterId/trend"
        >
          {group.title}
        </TextLink>
        <StateLine group={group} isEmpty={isEmpty} scale={scale} />
      </div>
      <WhenSeen height={CHART_PIXELS}>
        {points.length > 0 && <Chart {...props} label={`${metricTitle}, ${group.title}`} />}
      </WhenSeen>
    </section>
  );
}

interface StateLineProps {
  readonly group: SmallGroup;
  readonly isEmpty: boolean;
  readonly scale: PanelScale;
}

function StateLine({ group: { state, leftOut, series }, isEmpty, scale }: StateLineProps) {
  const Look = state.isBad ? Problem : Detail;
  const since = state.since ? t`since ${formatDay(state.since)}` : "";
  const words = [state.words, since].filter(Boolean).join(" ");
  const own = scale.isOwn && !isEmpty ? t`own scale` : "";
  const cut = scale.isCut ? t`axis does not start at zero` : "";
  const more = leftOut > 0 ? t`${series.length} of ${series.length + leftOut} series` : "";
  const empty = isEmpty ? t`no points in this time range` : "";
  return <Look>{[words, more, own, cut, empty].filter(Boolean).join(" · ")}</Look>;
}

function Chart(props: SmallChartProps & { label: string }) {
  const { group, points, metricTitle, shown, span, label, onSpan } = props;
  const { range } = props.scale;
  const { ranges } = props;
  const scheme = useScheme();
  const end = useNow(NOW_STEP_SECONDS);
  const titlesOf = useTitlesOf();
  const lines = useMemo(() => {
    const [first] = group.series;
    const names = nameSeries(group.series, titlesOf(first?.workload ?? "", first?.cluster_id));
    return points.map((own) => ({ name: names.get(own.series.id) ?? "", points: own }));
  }, [group, points, titlesOf]);
  const figure = useMemo(
    () =>
      smallTrendFigure(
        lines.map(({ name, points: { at, median, gaps } }) => ({ name, at, median, gaps })),
        {
          ...{ metricTitle, range, scheme, end },
          scale: scaleFor(group.series[0]?.unit ?? "count", range[1]),
          span: shown,
          markAt: group.markAt,
          ranges,
        },
      ),
    [lines, metricTitle, range, shown, scheme, end, group, ranges],
  );
  return (
    <>
      <Plot
        exported={pointsExport(lines, span)}
        figure={figure}
        height={CHART_PIXELS}
        isBare
        label={t`${label}, until ${endDay({ span, end })}`}
        onZoom={(zoom) =>
          onSpan({
            from: zoom ? fromLocalTime(zoom[0]) : undefined,
            to: zoom ? fromLocalTime(zoom[1]) : undefined,
          })
        }
        viewKey={`${group.title} ${shown.from} ${shown.to} ${range.join(" ")}`}
      />
      <LineNames names={lines.map(({ name }) => name)} />
    </>
  );
}

const AHEAD = "200px";

/** Renders its children when scrolled into view, and reserves their space before. */
function WhenSeen({ height, children }: { height: number; children: ReactNode }) {
  const place = useRef<HTMLDivElement>(null);
  const [isSeen, setIsSeen] = useState(typeof IntersectionObserver === "undefined");
  useEffect(() => {
    const element = place.current;
    if (isSeen || !element) return;
    const observer = new IntersectionObserver(
      (entries) => {
        if (entries.some(({ isIntersecting }) => isIntersecting)) setIsSeen(true);
      },
      { rootMargin: AHEAD },
    );
    observer.observe(element);
    return () => observer.disconnect();
  }, [isSeen]);
  return (
    <Box mih={height} ref={place}>
      {isSeen && children}
    </Box>
  );
}
