import { t } from "@lingui/core/macro";
import { Trans } from "@lingui/react/macro";
import { Button, Group, Stack, Text } from "@mantine/core";
import { useMediaQuery } from "@mantine/hooks";
import { useQuery } from "@tanstack/react-query";
import { useMemo, useState } from "react";
import type { Campaign, Timeline, TimelineLease, TimelineOrder } from "@/api/types";
import { StateBadge } from "@/components/badges";
import { RunLink, TextLink } from "@/components/links";
import { Hint } from "@/components/looks";
import { Loaded, Section } from "@/components/Page";
import { Place } from "@/components/Place";
import { useScheme } from "@/components/preferences";
import { Row, ScrollTable } from "@/components/ScrollTable";
import { type View, ViewChoice } from "@/components/ViewChoice";
import { Seconds } from "@/components/values";
import { formatExactTime, formatLogTime, fromLocalTime, localTime, shownTimeZone } from "@/lib/time";
import { barsByKind, lanesFigure, lanesHeight } from "@/plots/lanes";
import { Plot } from "@/plots/Plot";
import { type TimelineSpan, timelineQuery } from "./queries";
import { spansOf, TIMELINE_KINDS, type TimelineBar, type TimelineLanes, timelineLanes } from "./timeline";

/** Screens on which each entry of the legend takes a line. */
const NARROW = "(max-width: 48em)";

interface TimelineSectionProps {
  readonly campaign: Campaign;
  readonly span: TimelineSpan;
  readonly onSpan: (span: TimelineSpan) => void;
  readonly onRun: (runId: number) => void;
}

export default function TimelineSection({ campaign, span, onSpan, onRun }: TimelineSectionProps) {
  const timeline = useQuery(timelineQuery(campaign, span));
  return (
    <Section
      description={t`Frames are leases; an exclusive lease keeps other runs off the resource. Drag to zoom, click a bar to open its run.`}
      title={t`Timeline`}
    >
      <Loaded
        empty={<NothingHere onAll={() => onSpan({})} span={span} />}
        isEmpty={({ orders, waiting }) => orders.length === 0 && waiting.length === 0}
        lines={8}
        query={timeline}
      >
        {(found) => (
          <Stack gap="xs">
            <SpanBar onSpan={onSpan} span={span} timeline={found} />
            <Lanes campaign={campaign} onRun={onRun} onSpan={onSpan} span={span} timeline={found} />
          </Stack>
        )}
      </Loaded>
    </Section>
  );
}

function NothingHere({ span, onAll }: { span: TimelineSpan; onAll: () => void }) {
  return (
    <Group gap="xs">
      <Text c="dimmed">{t`No runs started or waited in this period.`}</Text>
      {(span.from ?? span.to) && (
        <Button onClick={onAll} size="compact-sm" variant="default">{t`Full range`}</Button>
      )}
    </Group>
  );
}

interface SpanBarProps {
  readonly timeline: Timeline;
  readonly span: TimelineSpan;
  readonly onSpan: (span: TimelineSpan) => void;
}

/** A chart holds only part of a long campaign: start at the newest orders and page back in time. */
function SpanBar({ timeline: { orders, left_out: leftOut }, span, onSpan }: SpanBarProps) {
  const first = orders[0]?.offered_at;
  const isPart = span.from !== undefined || span.to !== undefined;
  if (leftOut === 0 && !isPart) return null;
  return (
    <Group gap="xs">
      <Button
        disabled={leftOut === 0 || first === undefined}
        onClick={() => onSpan({ to: first })}
        size="compact-sm"
        variant="default"
      >{t`Earlier`}</Button>
      <Button disabled={!isPart} onClick={() => onSpan({})} size="compact-sm" variant="default">
        {span.from === undefined ? t`Newest` : t`Full range`}
      </Button>
      <Hint>
        <Trans>
          {orders.length} orders shown{leftOut > 0 && t`, ${leftOut} earlier ones hidden`}.
        </Trans>
      </Hint>
    </Group>
  );
}

function useTimelineFigure({ bars, lanes }: TimelineLanes, { from, to }: TimelineSpan) {
  const scheme = useScheme();
  return useMemo(
    () =>
      lanesFigure(bars, {
        kinds: TIMELINE_KINDS,
        lanes,
        timeOf: localTime,
        xTitle: t`Time (${shownTimeZone()})`,
        range: from && to ? [localTime(from), localTime(to)] : undefined,
        scheme,
      }),
    [bars, lanes, from, to, scheme],
  );
}

interface LanesProps {
  readonly campaign: Campaign;
  readonly timeline: Timeline;
  readonly span: TimelineSpan;
  readonly onSpan: (span: TimelineSpan) => void;
  readonly onRun: (runId: number) => void;
}

function Lanes({ campaign, timeline, span, onSpan, onRun }: LanesProps) {
  const [view, setView] = useState<View>("chart");
  const isNarrow = useMediaQuery(NARROW);
  const found = useMemo(() => timelineLanes(timeline), [timeline]);
  const { bars, lanes, undrawn } = found;
  const figure = useTimelineFigure(found, span);
  const drawn = [...barsByKind(bars, { kinds: TIMELINE_KINDS, lanes }).values()].filter(
    (ofKind) => ofKind.length > 0,
  );
  function zoom(shown: readonly [string, string] | null): void {
    onSpan(shown ? { from: fromLocalTime(shown[0]), to: fromLocalTime(shown[1]) } : {});
  }
  function open(trace: number, point: number): void {
    const bar = drawn[trace]?.[point] as TimelineBar | undefined;
    if (bar?.runId) onRun(bar.runId);
  }
  return (
    <>
      <Group justify="flex-end">
        <ViewChoice label={t`Timeline view`} onView={setView} view={view} />
      </Group>
      {view === "chart" ? (
        <Plot
          figure={figure}
          height={lanesHeight(lanes.length, isNarrow ? drawn.length : 1)}
          label={t`Timeline of ${campaign.name}: ${timeline.orders.length} orders on ${lanes.length} lanes`}
          onPointClick={open}
          onZoom={zoom}
          viewKey={`timeline ${campaign.id} ${span.from} ${span.to}`}
        />
      ) : (
        <TimelineTable timeline={timeline} />
      )}
      {undrawn > 0 && <Hint>{t`${undrawn} more lanes are only in the table.`}</Hint>}
    </>
  );
}

const ORDER_HEAD = [
  t`Run`,
  t`Node and target`,
  t`State`,
  t`Offered`,
  t`Wait`,
  t`Preparation`,
  t`Run time`,
  t`Upload`,
];
const LEASE_HEAD = [t`Resource`, t`Held by`, t`Mode`, t`From`, t`To`];
const MAX_HEIGHT_PX = 420;

function TimelineTable({ timeline }: { timeline: Timeline }) {
  const now = Date.parse(timeline.at);
  const leases = [...timeline.others, ...timeline.leases];
  return (
    <Stack>
      <ScrollTable head={ORDER_HEAD} label={t`Orders by time`} maxHeight={MAX_HEIGHT_PX}>
        {timeline.orders.toReversed().map((order) => (
          <OrderRow key={order.order_id} now={now} order={order} />
        ))}
      </ScrollTable>
      <ScrollTable head={LEASE_HEAD} label={t`Leases by time`} maxHeight={MAX_HEIGHT_PX}>
        {leases.toReversed().map((lease) => (
          <LeaseRow key={`${lease.run_id} ${lease.kind} ${lease.name} ${lease.taken_at}`} lease={lease} />
        ))}
      </ScrollTable>
    </Stack>
  );
}

function OrderRow({ order, now }: { order: TimelineOrder; now: number }) {
  const spans = spansOf(order, now);
  const lasted = (...kinds: string[]) => {
    const span = spans.find(({ kind }) => kinds.includes(kind));
    return span && <Seconds value={(span.to - span.from) / 1000} />;
  };
  return (
    <Row>
      <td>
        <RunLink fw={600} id={order.run_id} />
        {order.attempt > 1 && t`, attempt ${order.attempt}`}
      </td>
      <td className="iotide-name">
        <Place of={{ node_names: [order.node_name], target_names: order.target_names }} />
      </td>
      <StateBadge state={order.outcome ?? order.state} />
      <LogTime at={order.offered_at} />
      {lasted("waiting")}
      {lasted("preparing")}
      {lasted("running", "broken")}
      {lasted("uploading")}
    </Row>
  );
}

function LeaseRow({ lease }: { lease: TimelineLease }) {
  return (
    <Row>
      <td className="iotide-name">
        {lease.kind} {lease.name}
      </td>
      <Trans>
        <TextLink params={{ runId: lease.run_id }} to="/runs/$runId">
          run {lease.run_id}
        </TextLink>{" "}
        of {lease.campaign_name}
      </Trans>
      {lease.mode === "exclusive" ? t`exclusive` : t`shared`}
      <LogTime at={lease.taken_at} />
      {lease.released_at === null ? t`held` : <LogTime at={lease.released_at} />}
    </Row>
  );
}

function LogTime({ at }: { at: string }) {
  return (
    <time dateTime={at} title={formatExactTime(at)}>
      {formatLogTime(at)}
    </time>
  );
}
