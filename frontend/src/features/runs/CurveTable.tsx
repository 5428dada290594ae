/** The values of one counter in figures, for those who want to read or copy them. */

import { t } from "@lingui/core/macro";
import { NativeSelect, Stack } from "@mantine/core";
import { type ReactNode, useState } from "react";
import type { Curve, RunDetail } from "@/api/types";
import { ScrollTable } from "@/components/ScrollTable";
import { Quantity } from "@/components/values";
import type { Unit } from "@/lib/units";
import { type CurveLine, counterTitle, counterUnit } from "@/plots/curve";
import { linesOf } from "./curvePanels";

export function CurveTable({ curves, run }: { curves: readonly Curve[]; run: RunDetail }) {
  const counters = [...new Set(curves.map(({ counter }) => counter))];
  const [chosen, setChosen] = useState<string>();
  const counter = counters.find((name) => name === chosen) ?? counters[0] ?? "";
  const lines = linesOf(curves, counter, run);
  const hasRange = lines.some(({ range }) => range !== null);
  return (
    <Stack gap="xs">
      <NativeSelect
        aria-label={t`Counter`}
        data={counters.map((name) => ({ value: name, label: counterTitle(name) }))}
        onChange={(event) => setChosen(event.currentTarget.value)}
        value={counter}
      />
      <ScrollTable
        head={[t`Second`, ...(hasRange ? [t`Mean`, t`Lowest`, t`Highest`] : [t`Value`]), t`Node`]}
        label={t`${counterTitle(counter)} by second`}
        maxHeight={300}
      >
        {lines.flatMap((line) => line.values.map((_, index) => curveRow(line, index, counterUnit(counter))))}
      </ScrollTable>
    </Stack>
  );
}

function curveRow(
  { name, values, range, firstSecond, stepSeconds }: CurveLine,
  index: number,
  unit: Unit,
): ReactNode {
  const second = firstSecond + index * stepSeconds;
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
