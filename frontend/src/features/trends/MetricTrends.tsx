/** Trends of one metric over clusters and targets, worst first. */

import { t } from "@lingui/core/macro";
import { Button, Group, NativeSelect, SegmentedControl, Stack, Switch } from "@mantine/core";
import { useMemo } from "react";
import type { MetricBoard } from "@/api/types";
import { Hint } from "@/components/looks";
import { PANEL_KINDS, type PanelKind, panelsOf } from "./panels";
import { NO_RANGES, type RangeView, rangesOf } from "./ranges";
import { SmallCharts } from "./SmallCharts";
import { TimeRange } from "./TimeRange";

const PANELS_AT_ONCE = 24;

/** All choices are in the address. */
export interface MetricTrendsView extends RangeView {
  readonly workload?: string | undefined;
  readonly metric?: string | undefined;
  /** Undefined: a panel for each target. */
  readonly by?: Exclude<PanelKind, "target"> | undefined;
  readonly from?: string | undefined;
  readonly to?: string | undefined;
  readonly zoomed?: boolean | undefined;
  /** Number of panels; undefined: the first page. */
  readonly panels?: number | undefined;
}

interface MetricTrendsProps {
  readonly board: MetricBoard;
  readonly clusterNames: ReadonlyMap<number, string>;
  readonly view: MetricTrendsView;
  readonly onView: (change: MetricTrendsView) => void;
}

export function MetricTrends(props: MetricTrendsProps) {
  const { board, clusterNames, view, onView } = props;
  const kind = view.by ?? "target";
  const groups = useMemo(() => panelsOf(board.series, kind, clusterNames), [board, kind, clusterNames]);
  const most = view.panels ?? PANELS_AT_ONCE;
  const shown = useMemo(() => groups.slice(0, most), [groups, most]);
  const ranges = useRanges(view);
  const span = useMemo(() => ({ from: view.from, to: view.to }), [view.from, view.to]);
  return (
    <Stack gap="sm">
      <Pickers {...props} kind={kind} />
      <SmallCharts
        fromZero={!view.zoomed}
        groups={shown}
        metricTitle={metricTitleOf(board)}
        onSpan={onView}
        ranges={ranges}
        span={span}
      />
      {groups.length === 0 && <Hint>{t`This metric has no points yet.`}</Hint>}
      {shown.length < groups.length && (
        <Button onClick={() => onView({ panels: most + PANELS_AT_ONCE })} variant="default" w="fit-content">
          {t`Show more, ${groups.length - shown.length} left`}
        </Button>
      )}
      {board.is_cut && (
        <Hint>{t`Only the newest ${board.series.length} series are included. Choose a cluster.`}</Hint>
      )}
    </Stack>
  );
}

/** Memoized, since figures depend on it. */
function useRanges({ a_from, a_to, b_from, b_to }: RangeView) {
  return useMemo(() => rangesOf({ a_from, a_to, b_from, b_to }), [a_from, a_to, b_from, b_to]);
}

export function metricTitleOf({ workload, metric, measured }: MetricBoard): string {
  const own = measured.find((one) => one.workload === workload)?.metrics;
  return own?.find((one) => one.metric === metric)?.title ?? metric ?? "";
}

function Pickers({ board, view, onView, kind }: MetricTrendsProps & { kind: PanelKind }) {
  const { workload, metric, measured } = board;
  const metrics = measured.find((one) => one.workload === workload)?.metrics ?? [];
  const words: Readonly<Record<PanelKind, string>> = {
    target: t`Target`,
    node: t`Node`,
    cluster: t`Cluster`,
  };
  return (
    <Group align="flex-end" gap="sm">
      <NativeSelect
        aria-label={t`Workload`}
        data={measured.map((one) => one.workload)}
        onChange={(event) =>
          onView({ workload: event.currentTarget.value, metric: undefined, panels: undefined })
        }
        value={workload ?? ""}
      />
      <NativeSelect
        aria-label={t`Metric`}
        data={metrics.map((one) => ({ value: one.metric, label: one.title }))}
        onChange={(event) => onView({ metric: event.currentTarget.value, panels: undefined })}
        value={metric ?? ""}
      />
      <SegmentedControl
        aria-label={t`Panel for each`}
        data={PANEL_KINDS.map((value) => ({ value, label: words[value] }))}
        onChange={(chosen) => onView({ by: chosen === "target" ? undefined : chosen, panels: undefined })}
        size="xs"
        value={kind}
      />
      <TimeRange onSpan={onView} span={view} />
      {rangesOf(view) && (
        <Button onClick={() => onView(NO_RANGES)} size="compact-sm" variant="default">
          {t`Stop comparing`}
        </Button>
      )}
      <Switch
        checked={!view.zoomed}
        label={t`Start axis at zero`}
        onChange={(event) => onView({ zoomed: event.currentTarget.checked ? undefined : true })}
        size="xs"
      />
    </Group>
  );
}
