/** Numbers of one side, by its number of runs: the value, all values, median and range, percentiles, or two modes. */

import { t } from "@lingui/core/macro";
import { Trans } from "@lingui/react/macro";
import { Badge } from "@mantine/core";
import { Fragment } from "react";
import type { SidesMetric, TwoModes } from "@/api/types";
import { Detail } from "@/components/looks";
import { percentile } from "@/lib/percentile";
import { cautionsOf, notesOf } from "./flagWords";
import { MeasuredValue } from "./MeasuredValue";
import { Quantity } from "./values";

/** Runs from which a range is shown. */
const ENOUGH_RUNS = 4;
/** Runs from which percentiles are shown. */
const MANY_RUNS = 30;

interface RunNumbersProps {
  readonly values: readonly number[];
  readonly median: number;
  readonly modes: TwoModes | null;
  readonly unit: SidesMetric["unit"];
  readonly flags: readonly string[];
}

export function RunNumbers(numbers: RunNumbersProps) {
  const { values, median, unit, flags } = numbers;
  const [low, high] = [Math.min(...values), Math.max(...values)];
  const columns = { value: median, low, high, n: values.length, flags: flags.join(" "), unit };
  return (
    <div data-export={JSON.stringify(columns)}>
      <ShownNumbers {...numbers} />
    </div>
  );
}

function ShownNumbers({ values, median, modes, unit, flags }: RunNumbersProps) {
  if (modes)
    return (
      <Trans>
        <MeasuredValue flags={flags} unit={unit} value={modes.low} /> ({modes.low_runs} runs)
        <br />
        <MeasuredValue
          flags={flags}
          shownElsewhere={[...cautionsOf(flags), ...notesOf(flags)]}
          unit={unit}
          value={modes.high}
        />{" "}
        ({modes.high_runs} runs)
      </Trans>
    );
  return (
    <>
      <MeasuredValue flags={flags} unit={unit} value={median} />{" "}
      {values.length === 1 ? (
        <Badge color="orange">{t`1 run`}</Badge>
      ) : (
        <Detail>
          <Trans>
            {values.length} runs, <Spread unit={unit} values={values} />
          </Trans>
        </Detail>
      )}
    </>
  );
}

function Spread({ values, unit }: Pick<RunNumbersProps, "values" | "unit">) {
  const ordered = [...values].sort((a, b) => a - b);
  const number = (value: number) => <Quantity unit={unit} value={value} />;
  if (values.length < ENOUGH_RUNS)
    return ordered.map((value, place) => (
      // biome-ignore lint/suspicious/noArrayIndexKey: equal runs have no other key
      <Fragment key={place}>
        {place > 0 && ", "}
        {number(value)}
      </Fragment>
    ));
  return (
    <>
      <Trans>
        {number(ordered[0] ?? 0)} to {number(ordered.at(-1) ?? 0)}
      </Trans>
      {values.length >= MANY_RUNS && (
        <>
          <br />
          <Trans>
            p50 {number(percentile(ordered, 50))}, p95 {number(percentile(ordered, 95))}, p99{" "}
            {number(percentile(ordered, 99))}
          </Trans>
        </>
      )}
    </>
  );
}
