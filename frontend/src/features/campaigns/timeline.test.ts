import { expect, it } from "vitest";
import type { Timeline, TimelineLease, TimelineOrder } from "@/api/types";
import { spansOf, timelineLanes } from "./timeline";

const moment = (second: number) => new Date(Date.UTC(2026, 10, 21, 10, 0, second)).toISOString();
const NOW = Date.parse(moment(60));

function order(changes: Partial<TimelineOrder> = {}): TimelineOrder {
  return {
    order_id: 1,
    run_id: 7,
    repeat: 1,
    cell_id: 1,
    workload: "dd",
    attempt: 1,
    node_name: "n1",
    target_names: ["nfs"],
    state: "ended",
    outcome: "finished",
    waited_since: moment(0),
    offered_at: moment(5),
    claimed_at: moment(6),
    started_at: moment(10),
    uploading_at: moment(30),
    ended_at: moment(32),
    silent_since: null,
    ...changes,
  };
}

function seconds(spans: readonly { kind: string; from: number; to: number }[]) {
  return spans.map(({ kind, from, to }) => [kind, (to - from) / 1000]);
}

function timeline(changes: Partial<Timeline>): Timeline {
  return {
    campaign_id: 1,
    at: moment(60),
    orders: [],
    leases: [],
    others: [],
    waiting: [],
    left_out: 0,
    ...changes,
  };
}

it("shows an order as waiting, checking, running and uploading", () => {
  expect(seconds(spansOf(order(), NOW))).toEqual([
    ["waiting", 5],
    ["preparing", 5],
    ["running", 20],
    ["uploading", 2],
  ]);
});

it("extends active phases to now", () => {
  const running = order({ state: "running", outcome: null, uploading_at: null, ended_at: null });
  expect(seconds(spansOf(running, NOW)).at(-1)).toEqual(["running", 50]);
});

it("marks orders without results, even if nothing started", () => {
  const failed = order({ outcome: "failed", uploading_at: null });
  expect(seconds(spansOf(failed, NOW)).at(-1)).toEqual(["broken", 22]);
  const declined = order({ outcome: "declined", started_at: null, uploading_at: null });
  expect(seconds(spansOf(declined, NOW))).toEqual([
    ["waiting", 5],
    ["broken", 27],
  ]);
});

it("draws no negative spans if clocks disagree", () => {
  const skewed = order({ started_at: moment(4) });
  expect(spansOf(skewed, NOW).every(({ from, to }) => to > from)).toBe(true);
});

it("has a lane for each node and target, nodes first, in numeric order", () => {
  const { lanes } = timelineLanes(
    timeline({
      orders: [order({ node_name: "n10" }), order({ node_name: "n2", target_names: ["scratch"] })],
    }),
  );
  expect(lanes).toEqual(["node n2", "node n10", "target nfs", "target scratch"]);
});

it("distinguishes exclusive, shared and other campaigns' leases", () => {
  const lease = (changes: Partial<TimelineLease>): TimelineLease => ({
    run_id: 7,
    campaign_id: 1,
    campaign_name: "nightly",
    kind: "target",
    name: "nfs",
    mode: "exclusive",
    taken_at: moment(5),
    released_at: null,
    ...changes,
  });
  const { bars } = timelineLanes(
    timeline({
      leases: [lease({}), lease({ mode: "shared" })],
      others: [lease({ campaign_name: "burn-in" })],
    }),
  );
  expect(bars.map(({ kind }) => kind)).toEqual(["alone", "shared", "other"]);
  expect(bars[2]?.says[0]).toBe("run 7 of burn-in");
});

it("shows how many runs wait for a node, and since when", () => {
  const { bars, lanes } = timelineLanes(
    timeline({ waiting: [{ node_name: "n1", runs: 2, since: moment(0) }] }),
  );
  expect(lanes).toEqual(["node n1"]);
  expect(bars[0]?.says).toEqual(["2 runs wait", "longest for 1 min"]);
});
