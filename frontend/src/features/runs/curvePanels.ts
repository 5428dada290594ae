/** Turns the curves of a run into panels with a common time axis. */

import { t } from "@lingui/core/macro";
import type { Curve, RunDetail } from "@/api/types";
import type { CounterPanel } from "@/plots/counters";
import { type CurveLine, type CurvePanel, counterUnit, type StepMark } from "@/plots/curve";

export interface CurvePanels {
  readonly panels: readonly CurvePanel[];
  /** Titles of panels whose values are all zero; not drawn. */
  readonly still: readonly string[];
  /** Titles of panels whose lines have a single value each; not drawn. */
  readonly short: readonly string[];
}

export function curvePanels(
  wanted: readonly CounterPanel[],
  curves: readonly Curve[],
  run: RunDetail,
): CurvePanels {
  const watched = watchedOrders(run);
  const ofLoads = curves.filter(({ order_id }) => !watched.has(order_id));
  const ofWatched = curves.filter(({ order_id }) => watched.has(order_id));
  const names = new Set(ofWatched.map(({ order_id }) => watched.get(order_id)));
  const prefix = names.size > 1 ? t`Monitored nodes` : t`Monitored node ${[...names].join()}`;
  const all = wanted
    .flatMap((panel) => [
      drawable(panel, ofLoads, run, curves),
      drawable({ ...panel, title: `${prefix}: ${panel.title}` }, ofWatched, run, curves),
    ])
    .filter(({ lines }) => lines.length > 0);
  const isDrawn = (panel: CurvePanel) => !isStill(panel) && !isShort(panel);
  return {
    panels: all.filter(isDrawn).map((panel) => ({ ...panel, lines: panel.lines.filter(hasCourse) })),
    still: all.filter(isStill).map(({ title }) => title),
    short: all.filter((panel) => isShort(panel) && !isStill(panel)).map(({ title }) => title),
  };
}

/** Orders of monitored nodes. */
function watchedOrders({ attempts }: RunDetail): Map<number, string> {
  const orders = attempts.flatMap((attempt) => attempt.orders);
  return new Map(orders.filter(({ role }) => role === "observe").map(({ id, node_name }) => [id, node_name]));
}

function drawable(
  { title, lines }: CounterPanel,
  curves: readonly Curve[],
  run: RunDetail,
  all: readonly Curve[],
): CurvePanel {
  const counters = Object.keys(lines).filter((counter) => curves.some((curve) => curve.counter === counter));
  const orders = new Set(curves.map(({ order_id }) => order_id));
  return {
    title,
    unit: counterUnit(counters[0] ?? ""),
    lines: counters.flatMap((counter, kind) =>
      linesOf(curves, counter, run, all).map((line, order) => ({
        ...line,
        name: nameOf(
          counters.length > 1 ? lines[counter] : undefined,
          orders.size > 1 ? line.name : undefined,
        ),
        kind: counters.length > 1 ? kind : order,
      })),
    ),
  };
}

function nameOf(counter: string | undefined, node: string | undefined): string {
  return [counter, node].filter((part) => part !== undefined).join(", ") || "value";
}

function isShort({ lines }: CurvePanel): boolean {
  return !lines.some(hasCourse);
}

/** A single value has no course: it would be a dot without a line. */
function hasCourse({ values }: CurveLine): boolean {
  return values.filter((value) => value !== null).length > 1;
}

function isStill({ lines }: CurvePanel): boolean {
  return lines.every(({ values }) => values.every((value) => !value));
}

/**
 * The curves of one counter with their nodes.
 *
 * @param all curves that determine when loads began
 */
export function linesOf(
  curves: readonly Curve[],
  counter: string,
  run: RunDetail,
  all: readonly Curve[] = curves,
): CurveLine[] {
  const nodeOf = new Map(
    run.attempts.flatMap(({ ordinal, orders }) =>
      orders.map((order) => [
        order.id,
        ordinal > 1 ? t`${order.node_name}, attempt ${ordinal}` : order.node_name,
      ]),
    ),
  );
  return curves
    .filter((curve) => curve.counter === counter)
    .map((curve, kind) => ({
      name: nodeOf.get(curve.order_id) ?? t`order ${curve.order_id}`,
      firstSecond: (Date.parse(curve.started_at) - beganAt(all, run, curve.order_id)) / 1000,
      kind,
      stepSeconds: curve.step_seconds,
      values: curve.values,
      range: curve.lows && curve.highs && { low: curve.lows, high: curve.highs },
    }));
}

/**
 * Start of an order's load: its earliest curve, since some counters begin later. For a monitored node it is the first
 * load of the attempt, since monitoring begins before that.
 */
function beganAt(curves: readonly Curve[], { attempts }: RunDetail, orderId: number): number {
  const orders = attempts.find((attempt) => attempt.orders.some(({ id }) => id === orderId))?.orders ?? [];
  const isWatched = orders.some(({ id, role }) => id === orderId && role === "observe");
  const loads = orders.filter(({ role }) => role === "load").map(({ id }) => id);
  const startOf = (ids: readonly number[]) =>
    Math.min(
      ...curves.filter(({ order_id }) => ids.includes(order_id)).map((curve) => Date.parse(curve.started_at)),
    );
  const began = startOf(isWatched ? loads : [orderId]);
  return Number.isFinite(began) ? began : startOf([orderId]);
}

/** Steps of the order with the most steps; all nodes of a run execute the same ones. */
export function stepMarks(run: RunDetail, curves: readonly Curve[]): StepMark[] {
  const orders = run.attempts.flatMap((attempt) => attempt.orders);
  const [longest] = orders.toSorted((a, b) => b.steps.length - a.steps.length);
  if (!longest || !curves.some(({ order_id }) => order_id === longest.id)) return [];
  const began = beganAt(curves, run, longest.id);
  return longest.steps.map(({ name, started_at }) => ({
    name,
    second: Math.max(0, (Date.parse(started_at) - began) / 1000),
  }));
}
