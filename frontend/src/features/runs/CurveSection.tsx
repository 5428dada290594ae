/** How the load went second by second. */

import { Group, NativeSelect, SegmentedControl, Text } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { type ReactNode, useMemo, useState } from "react";
import type { Curve, RunDetail } from "@/api/types";
import { Loaded } from "@/components/Loaded";
import { Section } from "@/components/Page";
import { Quantity } from "@/components/Quantity";
import { ScrollTable } from "@/components/ScrollTable";
import { useScheme } from "@/components/scheme";
import { formatDuration, type Unit } from "@/lib/units";
import { type CurveLine, counterTitle, counterUnit, curveFigure } from "@/plots/curve";
import { Plot } from "@/plots/Plot";
import { curvesQuery } from "./queries";

export function CurveSection({ run }: { run: RunDetail }) {
  const curves = useQuery(curvesQuery(run.id));
  return (
    <Section description={describeSteps(curves.data ?? [])} title="Curve">
      <Loaded
        empty={<Text c="dimmed">No curve: the run was too short or has not started.</Text>}
        isEmpty={(rows) => rows.length === 0}
        query={curves}
      >
        {(rows) => <CurveChart curves={rows} run={run} />}
      </Loaded>
    </Section>
  );
}

/** A long run has more seconds than a chart has room. */
function describeSteps(curves: readonly Curve[]): string {
  const stepSeconds = curves.reduce((longest, { step_seconds }) => Math.max(longest, step_seconds), 0);
  const isThinned = curves.some(({ lows }) => lows !== null);
  const values = isThinned
    ? `Means over ${formatDuration(stepSeconds)}, in a band from the smallest to the largest value`
    : "Values of each second";
  return `${values}, as the node's own counters gave them.`;
}

function CurveChart({ curves, run }: { curves: readonly Curve[]; run: RunDetail }) {
  const counters = useMemo(() => [...new Set(curves.map(({ counter }) => counter))], [curves]);
  const [chosen, setChosen] = useState<string>();
  const [view, setView] = useState("Chart");
  const counter = chosen ?? busiestCounter(curves);
  const lines = useMemo(() => linesOf(curves, counter, run), [curves, counter, run]);
  return (
    <>
      <Group mb="xs">
        <NativeSelect
          aria-label="Counter"
          data={counters.map((name) => ({ value: name, label: counterTitle(name) }))}
          onChange={(event) => setChosen(event.currentTarget.value)}
          value={counter}
        />
        <SegmentedControl
          aria-label="View of the curve"
          data={["Chart", "Table"]}
          onChange={setView}
          value={view}
        />
      </Group>
      {view === "Chart" ? (
        <CurvePlot counter={counter} lines={lines} runId={run.id} />
      ) : (
        <CurveTable counter={counter} lines={lines} />
      )}
    </>
  );
}

/** The transfer that moved most, or whatever there is. */
function busiestCounter(curves: readonly Curve[]): string {
  const moved = ({ values }: Curve) => values.reduce<number>((sum, value) => sum + (value ?? 0), 0);
  const transfers = curves.filter(({ counter }) => counter.endsWith("bytes_per_second"));
  const [busiest = curves[0]] = transfers.sort((a, b) => moved(b) - moved(a));
  return busiest?.counter ?? "";
}

function CurvePlot({
  counter,
  lines,
  runId,
}: {
  counter: string;
  lines: readonly CurveLine[];
  runId: number;
}) {
  const scheme = useScheme();
  const figure = useMemo(() => curveFigure(counter, lines, scheme), [counter, lines, scheme]);
  return (
    <Plot
      figure={figure}
      height={300}
      label={`${counterTitle(counter)} over time`}
      viewKey={`${runId} ${counter}`}
    />
  );
}

function CurveTable({ counter, lines }: { counter: string; lines: readonly CurveLine[] }) {
  const hasRange = lines.some(({ range }) => range !== null);
  return (
    <ScrollTable
      head={["Second", ...(hasRange ? ["Mean", "Lowest", "Highest"] : ["Value"]), "Node"]}
      label={`${counterTitle(counter)} by second`}
      maxHeight={300}
    >
      {lines.flatMap((line) => line.values.map((_, index) => curveRow(line, index, counterUnit(counter))))}
    </ScrollTable>
  );
}

function curveRow({ name, values, range, stepSeconds }: CurveLine, index: number, unit: Unit): ReactNode {
  const second = index * stepSeconds;
  return (
    <tr key={`${name} ${second}`}>
      <td>{second}</td>
      {[values, ...(range ? [range.low, range.high] : [])].map((column, place) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: columns never move
        <td key={place}>
          <Quantity unit={unit} value={column[index] ?? null} />
        </td>
      ))}
      <td>{name}</td>
    </tr>
  );
}

function linesOf(curves: readonly Curve[], counter: string, run: RunDetail): CurveLine[] {
  const nodeOf = new Map(
    run.attempts.flatMap(({ ordinal, orders }) =>
      orders.map((order) => [
        order.id,
        ordinal > 1 ? `${order.node_name}, attempt ${ordinal}` : order.node_name,
      ]),
    ),
  );
  return curves
    .filter((curve) => curve.counter === counter)
    .map((curve) => ({
      name: nodeOf.get(curve.order_id) ?? `order ${curve.order_id}`,
      stepSeconds: curve.step_seconds,
      values: curve.values,
      range: curve.lows && curve.highs && { low: curve.lows, high: curve.highs },
    }));
}
