/** The table behind the timeline: each order with how long it did what, and the leases. */

import { t } from "@lingui/core/macro";
import { Trans } from "@lingui/react/macro";
import { Stack } from "@mantine/core";
import type { Timeline, TimelineLease, TimelineOrder } from "@/api/types";
import { RunLink, TextLink } from "@/components/links";
import { Place } from "@/components/Place";
import { Row, ScrollTable } from "@/components/ScrollTable";
import { StateBadge } from "@/components/StateBadge";
import { Seconds } from "@/components/values";
import { formatExactTime, formatLogTime } from "@/lib/time";
import { spansOf } from "./timeline";

const ORDER_HEAD = [
  t`Run`,
  t`Node and target`,
  t`State`,
  t`Offered`,
  t`Waited`,
  t`Prepared`,
  t`Ran`,
  t`Uploaded`,
];
const LEASE_HEAD = [t`Of`, t`Held by`, t`Mode`, t`From`, t`To`];
const MAX_HEIGHT_PX = 420;

export function TimelineTable({ timeline }: { timeline: Timeline }) {
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
      {lease.mode === "exclusive" ? t`alone` : t`shared`}
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
