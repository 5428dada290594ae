/** Writer steps as bars, one lane per writer. */

import { t } from "@lingui/core/macro";
import type { RunDetail, Sample, StepRecord } from "@/api/types";
import { formatDuration, formatValue } from "@/lib/units";
import type { LaneBar, LaneKind } from "@/plots/lanes";

export interface WriterStep {
  readonly lane: string;
  readonly operation: string;
  readonly node: string;
  readonly writer: number;
  /** Seconds since the first writer started. */
  readonly second: number;
  readonly step: StepRecord;
  /** Rate of this writer, if the workload reports it. */
  readonly rate: Sample | undefined;
}

const PATTERNS = ["", "/", "\\", "x", "+", ".", "-"] as const;

/** Steps of the last attempt; empty without separate writers. */
export function writerSteps(run: RunDetail): WriterStep[] {
  const orders = run.attempts.at(-1)?.orders ?? [];
  const steps = orders.flatMap((order) =>
    order.steps.flatMap((step) => (step.writer === null ? [] : [{ order, step, writer: step.writer }])),
  );
  const began = Math.min(...steps.map(({ step }) => Date.parse(step.started_at)));
  return steps.map(({ order, step, writer }) => ({
    lane: t`${order.node_name}, writer ${writer}`,
    operation: operationOf(step),
    node: order.node_name,
    writer,
    second: (Date.parse(step.started_at) - began) / 1000,
    step,
    rate: run.samples.find((sample) => isRateOf(sample, order.id, operationOf(step), step)),
  }));
}

/** `write-2` is the write of the second writer. */
function operationOf({ name }: StepRecord): string {
  return name.replace(/-\d+$/, "");
}

function isRateOf(
  sample: Sample,
  orderId: number,
  operation: string,
  { writer, target_id }: StepRecord,
): boolean {
  const { order_id, labels, unit } = sample;
  const isHere = order_id === orderId && (sample.target_id === null || sample.target_id === target_id);
  return isHere && unit.endsWith("per_second") && labels.writer === writer && labels.operation === operation;
}

export function writerLanes(steps: readonly WriterStep[]) {
  const operations = [...new Set(steps.map(({ operation }) => operation))];
  const kinds: LaneKind[] = operations.map((operation, index) => ({
    key: operation,
    title: operation,
    colour: index,
    pattern: PATTERNS[index % PATTERNS.length] ?? "",
    height: 0.6,
  }));
  const bars: LaneBar[] = steps.map(({ lane, operation, second, step, rate }) => ({
    kind: operation,
    lane,
    from: second,
    to: second + step.wall_seconds,
    says: [
      `${lane}: ${formatDuration(step.wall_seconds)}`,
      ...(rate ? [formatValue(rate.value, rate.unit)] : []),
    ],
  }));
  return { kinds, bars, lanes: [...new Set(steps.map(({ lane }) => lane))] };
}
