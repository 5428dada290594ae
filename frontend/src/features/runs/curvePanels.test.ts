import { expect, it } from "vitest";
import type { Curve, RunDetail } from "@/api/types";
import { curvePanels, linesOf, stepMarks } from "./curvePanels";

const run = {
  attempts: [
    {
      ordinal: 1,
      orders: [
        { id: 1, node_name: "client", role: "load", steps: [{ name: "write", started_at: at(10) }] },
        { id: 2, node_name: "server1", role: "observe", steps: [] },
        { id: 3, node_name: "server2", role: "observe", steps: [] },
      ],
    },
  ],
} as unknown as RunDetail;
const PROCESSORS = { title: "CPU", says: "", lines: { cpu_user_ratio: "user" } };

function at(second: number): string {
  return new Date(second * 1000).toISOString();
}

function curve(order_id: number, second: number, values: number[] = [0.5, 0.25]): Curve {
  const started_at = at(second);
  return {
    order_id,
    counter: "cpu_user_ratio",
    started_at,
    step_seconds: 1,
    values,
    lows: null,
    highs: null,
  };
}

it("draws monitored nodes in separate panels", () => {
  const { panels } = curvePanels([PROCESSORS], [curve(1, 10), curve(2, 8), curve(3, 9)], run);
  expect(panels.map(({ title }) => title)).toEqual(["CPU", "Monitored nodes: CPU"]);
  expect(panels.map(({ lines }) => lines.map(({ name }) => name))).toEqual([
    ["value"],
    ["server1", "server2"],
  ]);
});

it("names a single monitored node", () => {
  const { panels } = curvePanels([PROCESSORS], [curve(1, 10), curve(2, 8)], run);
  expect(panels.map(({ title }) => title)).toEqual(["CPU", "Monitored node server1: CPU"]);
});

it("aligns a monitored node with the start of the load", () => {
  const curves = [curve(1, 10), curve(2, 8)];
  expect(linesOf(curves, "cpu_user_ratio", run).map(({ firstSecond }) => firstSecond)).toEqual([0, -2]);
  const { panels } = curvePanels([PROCESSORS], curves, run);
  expect(panels.map(({ lines }) => lines[0]?.firstSecond)).toEqual([0, -2]);
  expect(stepMarks(run, curves)).toEqual([{ name: "write", second: 0 }]);
});

it("starts a monitored node at its own first sample if the load has no curve", () => {
  expect(linesOf([curve(2, 8)], "cpu_user_ratio", run).map(({ firstSecond }) => firstSecond)).toEqual([0]);
});

it("does not draw curves with a single value, and names their panels", () => {
  const { panels, short, still } = curvePanels([PROCESSORS], [curve(1, 10, [0.5]), curve(2, 8)], run);
  expect(panels.map(({ title }) => title)).toEqual(["Monitored node server1: CPU"]);
  expect(short).toEqual(["CPU"]);
  expect(still).toEqual([]);
});
