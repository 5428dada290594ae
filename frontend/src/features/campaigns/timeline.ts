/** Converts a campaign's timeline into bars on lanes of nodes and targets; pure. */

import { t } from "@lingui/core/macro";
import type { Timeline, TimelineLease, TimelineOrder } from "@/api/types";
import { placeWords } from "@/lib/placeWords";
import { formatDuration } from "@/lib/units";
import type { LaneBar, LaneKind } from "@/plots/lanes";

/** In drawing order: frames first, so that bars lie inside them. */
export const TIMELINE_KINDS: readonly LaneKind[] = [
  { key: "alone", title: t`exclusive lease`, colour: 6, pattern: "", height: 0.9, isFrame: true },
  { key: "shared", title: t`shared lease`, colour: 6, pattern: ".", height: 0.9, isFrame: true },
  {
    key: "other",
    title: t`held by another campaign`,
    colour: null,
    pattern: "+",
    height: 0.9,
    isFrame: true,
  },
  { key: "waiting", title: t`waiting run`, colour: 5, pattern: "", height: 0.12 },
  { key: "preparing", title: t`offer and preflight`, colour: 1, pattern: "/", height: 0.55 },
  { key: "running", title: t`running`, colour: 0, pattern: "", height: 0.55 },
  { key: "uploading", title: t`uploading`, colour: 2, pattern: "\\", height: 0.55 },
  { key: "broken", title: t`ended without a result`, colour: 4, pattern: "x", height: 0.55 },
];

export interface TimelineLanes {
  readonly lanes: readonly string[];
  readonly bars: readonly TimelineBar[];
  /** Number of lanes left out. */
  readonly undrawn: number;
}

export interface TimelineBar extends LaneBar {
  readonly runId: number;
}

const MOST_LANES = 60;

export function timelineLanes(timeline: Timeline): TimelineLanes {
  const now = Date.parse(timeline.at);
  const bars = [
    ...timeline.leases.map((lease) => leaseBar(lease, lease.mode === "exclusive" ? "alone" : "shared", now)),
    ...timeline.others.map((lease) => leaseBar(lease, "other", now)),
    ...timeline.orders.flatMap((order) => orderBars(order, now)),
    ...timeline.waiting.map((queue) => waitingBar(queue, now)),
  ];
  const lanes = laneNames(bars);
  const drawn = lanes.slice(0, MOST_LANES);
  return { lanes: drawn, bars, undrawn: lanes.length - drawn.length };
}

/** Return nodes, targets and the cluster in this order, each by name. */
function laneNames(bars: readonly TimelineBar[]): string[] {
  const rank = (lane: string) => ["node ", "target ", "cluster "].findIndex((kind) => lane.startsWith(kind));
  const names = [...new Set(bars.map(({ lane }) => lane))];
  return names.sort((a, b) => rank(a) - rank(b) || a.localeCompare(b, "en", { numeric: true }));
}

function leaseBar(lease: TimelineLease, kind: string, now: number): TimelineBar {
  const from = Date.parse(lease.taken_at);
  const to = lease.released_at === null ? now : Date.parse(lease.released_at);
  const held = `${lease.released_at === null ? t`held for` : t`for`} ${lasting(from, to)}`;
  const owner = kind === "other" ? t` of ${lease.campaign_name}` : "";
  const says = [t`run ${lease.run_id}${owner}`, `${lease.kind} ${lease.name}`, held];
  return { kind, lane: `${lease.kind} ${lease.name}`, from, to, says, runId: lease.run_id };
}

function waitingBar({ node_name, runs, since }: Timeline["waiting"][number], now: number): TimelineBar {
  const from = Date.parse(since);
  const says = [`${runs} ${runs === 1 ? t`run waits` : t`runs wait`}`, t`longest for ${lasting(from, now)}`];
  return { kind: "waiting", lane: t`node ${node_name}`, from, to: now, says, runId: 0 };
}

function orderBars(order: TimelineOrder, now: number): TimelineBar[] {
  const spans = spansOf(order, now);
  const lane = t`node ${order.node_name}`;
  const ofNode = spans.map((span) => ({
    ...span,
    lane,
    says: describeSpan(order, span),
    runId: order.run_id,
  }));
  const loads = ofNode.filter(({ kind }) => kind === "running" || kind === "broken");
  const ofTargets = order.target_names.flatMap((name) =>
    loads.map((bar) => ({ ...bar, lane: t`target ${name}` })),
  );
  return [...ofNode, ...ofTargets];
}

interface Span {
  readonly kind: string;
  readonly from: number;
  readonly to: number;
}

/** Return the phases of an order. Times out of order, from wrong clocks or lost messages, give no span. */
export function spansOf(order: TimelineOrder, now: number): Span[] {
  const at = (time: string | null) => (time === null ? null : Date.parse(time));
  const ended = at(order.ended_at) ?? now;
  const offered = Date.parse(order.offered_at);
  const started = at(order.started_at);
  const uploading = at(order.uploading_at);
  const isBroken = order.outcome !== null && order.outcome !== "finished";
  const spans: Span[] = [
    { kind: "waiting", from: Date.parse(order.waited_since), to: offered },
    { kind: "preparing", from: offered, to: started ?? ended },
  ];
  if (started !== null)
    spans.push({ kind: isBroken ? "broken" : "running", from: started, to: uploading ?? ended });
  else if (isBroken) spans.push({ kind: "broken", from: offered, to: ended });
  if (uploading !== null) spans.push({ kind: "uploading", from: uploading, to: ended });
  return spans.filter(
    ({ kind, from, to }) => to > from && !(isBroken && started === null && kind === "preparing"),
  );
}

function describeSpan(order: TimelineOrder, { kind, from, to }: Span): string[] {
  const attempt = order.attempt > 1 ? t`, attempt ${order.attempt}` : "";
  return [
    t`run ${order.run_id}: ${order.workload}, repeat ${order.repeat}${attempt}`,
    placeWords([order.node_name], order.target_names),
    t`${(kind === "broken" && order.outcome) || kind} for ${lasting(from, to)}`,
  ];
}

function lasting(from: number, to: number): string {
  return formatDuration(Math.max(0, Math.round((to - from) / 100) / 10));
}
