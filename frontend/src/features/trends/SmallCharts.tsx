/** Small multiples by target, cluster or workload on a common scale, loaded with one request. */

import { t } from "@lingui/core/macro";
import { Box, SegmentedControl, Stack, Text } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { type ReactNode, useEffect, useMemo, useRef, useState } from "react";
import type { Points, Workload } from "@/api/types";
import { useNow } from "@/components/clock";
import { Hint } from "@/components/looks";
import { useTitlesOf } from "@/components/optionTitles";
import { Loaded, Section } from "@/components/Page";
import { useScheme } from "@/components/preferences";
import { ScrollTable } from "@/components/ScrollTable";
import { Quantity } from "@/components/values";
import { type Scale, scaleFor } from "@/lib/units";
import { Plot } from "@/plots/Plot";
import { smallTrendFigure } from "@/plots/smallTrend";
import { endDay } from "@/plots/timeAxis";
import { pointsTable } from "./exports";
import { nameSeries } from "./names";
import { manyPointsQuery, pointsPath, type Span, seriesOfMetricQuery } from "./queries";
import { EACH, type Each, type TrendView } from "./selection";
import { commonRange, type SmallGroup, smallGroups } from "./small";

const CHART_PIXELS = 180;
const NOW_STEP_SECONDS = 600;
const NO_CHARTS = "none";

interface SmallChartsProps {
  readonly clusterId: number;
  readonly clusterNames: ReadonlyMap<number, string>;
  readonly workload: Workload;
  readonly metric: string;
  readonly metricTitle: string;
  readonly span: Span;
  readonly view: TrendView;
  readonly onView: (change: TrendView) => void;
}

export function SmallCharts(props: SmallChartsProps) {
  const { each, zoomed } = props.view;
  return (
    <Section
      actions={
        <SegmentedControl
          aria-label={t`Split small multiples by`}
          data={[
            { value: NO_CHARTS, label: t`None` },
            ...EACH.map((value) => ({ value, label: t`By ${value}` })),
          ]}
          onChange={(chosen) => props.onView({ each: EACH.find((value) => value === chosen) })}
          size="xs"
          value={each ?? NO_CHARTS}
        />
      }
      description={t`${props.metricTitle} as small multiples on a common scale${zoomed ? "" : t` from zero`}.`}
      title={t`Small multiples`}
    >
      {each ? (
        <Groups {...props} each={each} />
      ) : (
        <Text c="dimmed">{t`Choose how to split the charts: by target, cluster or workload.`}</Text>
      )}
    </Section>
  );
}

function Groups(props: SmallChartsProps & { each: Each }) {
  const { each, metric, clusterId, workload, clusterNames } = props;
  const wanted = {
    ...(each !== "cluster" && { clusterId }),
    ...(each !== "workload" && { workload: workload.name }),
  };
  const series = useQuery(seriesOfMetricQuery(metric, wanted));
  return (
    <Loaded empty={t`This metric has no points yet.`} query={series}>
      {(rows) => {
        const { groups, hidden } = smallGroups(rows, each, clusterNames);
        return (
          <Stack gap="xs">
            <Grid {...props} groups={groups} />
            {hidden > 0 && (
              <Hint>{t`${hidden} more charts are not shown. Select a target above, or export the data.`}</Hint>
            )}
          </Stack>
        );
      }}
    </Loaded>
  );
}

function Grid(props: SmallChartsProps & { groups: readonly SmallGroup[] }) {
  const { groups, span, view } = props;
  const ids = groups.flatMap(({ series }) => series.map(({ id }) => id));
  const points = useQuery(manyPointsQuery(ids, span));
  return (
    <Loaded lines={8} query={points}>
      {(found) => {
        const range = commonRange(found, !view.zoomed);
        const scale = scaleFor(found[0]?.series.unit ?? "count", range[1]);
        const byId = new Map(found.map((own) => [own.series.id, own]));
        const shown = groups.map((group) => ({ ...group, points: pointsOf(group, byId) }));
        return (
          <>
            <Box className="iotide-panels">
              {shown.map((group) => (
                <SmallChart {...props} group={group} key={group.title} range={range} scale={scale} />
              ))}
            </Box>
            <NewestTable ids={ids} shown={shown} span={span} />
          </>
        );
      }}
    </Loaded>
  );
}

function pointsOf({ series }: SmallGroup, byId: ReadonlyMap<number, Points>): readonly Points[] {
  return series.flatMap(({ id }) => byId.get(id) ?? []);
}

type Shown = SmallGroup & { readonly points: readonly Points[] };

interface SmallChartProps {
  readonly group: Shown;
  readonly metricTitle: string;
  readonly range: readonly [number, number];
  readonly scale: Scale;
  readonly span: Span;
  readonly view: TrendView;
}

function SmallChart({ group, metricTitle, range, scale, span: { from, to } }: SmallChartProps) {
  const scheme = useScheme();
  const names = useNames(group);
  const lines = group.points.map((points) => ({ name: names.get(points.series.id) ?? "", points }));
  const span = from && to ? ([from, to] as const) : undefined;
  const end = useNow(NOW_STEP_SECONDS);
  const figure = smallTrendFigure(
    lines.map(({ name, points: { at, median, gaps } }) => ({ name, at, median, gaps })),
    { metricTitle, scale, range, span, scheme, end },
  );
  return (
    <div>
      <Text fw={600} size="sm">
        {group.title}
        {group.leftOut > 0 && t` · ${group.series.length} of ${group.series.length + group.leftOut} series`}
      </Text>
      <WhenSeen height={CHART_PIXELS}>
        <Plot
          exported={{ table: () => pointsTable(lines) }}
          figure={figure}
          height={CHART_PIXELS}
          label={t`${metricTitle}, ${group.title}, until ${endDay({ span, end })}`}
          viewKey={group.title}
        />
      </WhenSeen>
    </div>
  );
}

function useNames({ series }: SmallGroup): ReadonlyMap<number, string> {
  const titlesOf = useTitlesOf();
  return useMemo(() => nameSeries(series, titlesOf(series[0]?.workload ?? "")), [series, titlesOf]);
}

function NewestTable({ ids, shown, span }: { ids: readonly number[]; shown: readonly Shown[]; span: Span }) {
  return (
    <ScrollTable
      exported={{ hasFiles: true, path: pointsPath(ids, span) }}
      head={[t`Chart`, t`Series`, t`Points`, t`Newest`, t`Min`, t`Max`]}
      label={t`Values of the small multiples`}
      maxHeight={320}
    >
      {shown.flatMap((group) =>
        group.points.map((points) => <NewestRow group={group} key={points.series.id} points={points} />),
      )}
    </ScrollTable>
  );
}

function NewestRow({ group, points }: { group: Shown; points: Points }) {
  const { unit, id } = points.series;
  const names = useNames(group);
  const ends = [points.median.at(-1), ...commonRange([points], false)];
  return (
    <tr>
      <td>{group.title}</td>
      <td className="iotide-name">{names.get(id)}</td>
      <td>{points.at.length + points.left_out}</td>
      {["newest", "smallest", "largest"].map((which, place) => (
        <td key={which}>
          <Quantity unit={unit} value={points.at.length > 0 ? (ends[place] ?? null) : null} />
        </td>
      ))}
    </tr>
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
