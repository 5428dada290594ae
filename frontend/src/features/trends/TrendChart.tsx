/** Trend chart with lanes for changes and events. */

import { useMediaQuery } from "@mantine/hooks";
import { useMemo } from "react";
import { useNow } from "@/components/clock";
import { useScheme } from "@/components/preferences";
import { fromLocalTime } from "@/lib/time";
import { usedLanes } from "@/plots/chartEvents";
import { Plot } from "@/plots/Plot";
import type { Span } from "@/plots/timeAxis";
import { trendFigure } from "@/plots/trend";
import type { RangePair } from "@/plots/trendNotes";
import { type Analyses, type ChartEvent, type ChosenPoint, type NamedPoints, toLine } from "./drawn";
import { pointsExport } from "./exports";

const NO_SPAN: Span = {};
/** Redraw interval, so that the axis ends now. */
const NOW_STEP_SECONDS = 600;
const CHART_PIXELS = 420;
const LANE_PIXELS = 34;
/** Screens on which labels of changes are shorter. */
const NARROW = "(max-width: 48em)";

interface TrendChartProps {
  readonly lines: readonly NamedPoints[];
  readonly analyses: Analyses;
  readonly metricTitle: string;
  /** Text alternative, and title of pictures. */
  readonly title: string;
  readonly ranges?: RangePair | undefined;
  readonly fromZero: boolean;
  readonly chosenCellId: number | undefined;
  readonly onChoose: (point: ChosenPoint) => void;
  readonly shownEvents?: readonly ChartEvent[];
  readonly onEvent?: (eventId: number) => void;
  /** Null when the pointer leaves. */
  readonly onPointEvent?: (eventId: number | null) => void;
  readonly span?: Span;
  /** End of the axis in milliseconds if no span is selected; default: now. */
  readonly end?: number | undefined;
  readonly onRun?: (runId: number) => void;
  readonly onSpan?: (span: { from: string | undefined; to: string | undefined }) => void;
}

const NOTHING: readonly ChartEvent[] = [];

export function TrendChart(props: TrendChartProps) {
  const { lines, metricTitle, fromZero, shownEvents = NOTHING, span = NO_SPAN, onSpan } = props;
  const figure = useFigure(props, shownEvents, span);
  const eventAt = (trace: number, point: number) => (trace === lines.length ? shownEvents[point] : undefined);
  function choose(trace: number, point: number): void {
    const mark = eventAt(trace, point);
    if (mark?.eventId) props.onEvent?.(mark.eventId);
    if (mark?.runId) props.onRun?.(mark.runId);
    const points = mark ? lines[0]?.points : lines[trace]?.points;
    const cellId = mark ? mark.cellId : points?.cell_id[point];
    if (points && cellId) props.onChoose({ seriesId: points.series.id, cellId });
  }
  return (
    <Plot
      exported={pointsExport(lines, span)}
      figure={figure}
      height={CHART_PIXELS + LANE_PIXELS * usedLanes(shownEvents).length}
      label={props.title}
      onPointClick={choose}
      onPointHover={(mark) =>
        props.onPointEvent?.((mark && eventAt(mark.trace, mark.point)?.eventId) || null)
      }
      onZoom={(range) =>
        onSpan?.({
          from: range ? fromLocalTime(range[0]) : undefined,
          to: range ? fromLocalTime(range[1]) : undefined,
        })
      }
      viewKey={`${metricTitle} ${fromZero} ${span.from} ${span.to}`}
    />
  );
}

function useFigure(
  { lines, analyses, metricTitle, fromZero, chosenCellId, end, ranges }: TrendChartProps,
  shownEvents: readonly ChartEvent[],
  { from, to }: Span,
) {
  const scheme = useScheme();
  const now = useNow(NOW_STEP_SECONDS);
  const until = end ?? now;
  const isNarrow = useMediaQuery(NARROW);
  const unit = lines[0]?.points.series.unit ?? "count";
  return useMemo(
    () =>
      trendFigure(
        lines.map((line) => toLine(line, analyses)),
        {
          metricTitle,
          unit,
          fromZero,
          chosenCellId,
          scheme,
          marks: shownEvents,
          span: { from, to },
          end: until,
          ranges,
          isNarrow,
        },
      ),
    [
      lines,
      analyses,
      metricTitle,
      unit,
      fromZero,
      chosenCellId,
      scheme,
      shownEvents,
      from,
      to,
      until,
      ranges,
      isNarrow,
    ],
  );
}
