/** One part of a comparison: what is unlike, then the figure, the table, and the sentence that goes with them. */

import { t } from "@lingui/core/macro";
import { Alert, NativeSelect, Stack, Text } from "@mantine/core";
import { type ComponentProps, type ReactNode, useMemo } from "react";
import { OptionValue } from "@/components/OptionValue";
import { useTitlesOf } from "@/components/optionTitles";
import { Section } from "@/components/Page";
import { ScrollTable } from "@/components/ScrollTable";
import { useScheme } from "@/components/scheme";
import type { ExportTable } from "@/lib/exported";
import { Plot } from "@/plots/Plot";
import { shiftsFigure, shiftsHeight } from "@/plots/shifts";
import {
  type Compared,
  type MetricRow,
  metricTitles,
  type Row,
  rowsWith,
  runsFigure,
  shiftsOf,
  titleOfDimension,
} from "./compared";

interface ComparedSectionProps {
  readonly title: string;
  readonly description?: ReactNode;
  readonly actions?: ReactNode;
  readonly figure?: ComponentProps<typeof Figures>;
  readonly table?: ComponentProps<typeof ScrollTable> | undefined;
  readonly sentence?: ReactNode;
  /** Stands first. */
  readonly children?: ReactNode;
}

export function ComparedSection({ figure, table, sentence, children, ...section }: ComparedSectionProps) {
  return (
    <Section {...section}>
      <Stack gap="sm">
        {children}
        {figure && <Figures {...figure} />}
        {table && <ScrollTable {...table} />}
        {sentence && (
          <Text c="dimmed" size="sm">
            {sentence}
          </Text>
        )}
      </Stack>
    </Section>
  );
}

interface FiguresProps {
  readonly rows: readonly MetricRow[];
  readonly names: readonly string[];
  /** The title of the number that is drawn, and what the two figures show of it. */
  readonly title: string;
  readonly labels: { readonly runs: string; readonly ratios: string; readonly axis?: string };
  readonly exported: () => ExportTable;
}

/** Every run, and beside them each ratio to the baseline where there is one. */
function Figures({ rows, names, title, labels, exported }: FiguresProps) {
  const scheme = useScheme();
  const runs = useMemo(() => runsFigure(rows, names, scheme), [rows, names, scheme]);
  const shifts = useMemo(() => shiftsOf(rows, names), [rows, names]);
  const ratios = useMemo(() => shiftsFigure(shifts, scheme, labels.axis), [shifts, scheme, labels.axis]);
  return (
    <div className="iotide-panels">
      <Plot figure={runs} height={380} label={labels.runs} viewKey={title} />
      {shifts.some(({ ratio }) => ratio !== null) && (
        <Plot
          exported={{ table: exported }}
          figure={ratios}
          height={Math.max(380, shiftsHeight(shifts))}
          label={labels.ratios}
          viewKey={title}
        />
      )}
    </div>
  );
}

/** The number that is drawn, of those that any row has: the chosen one, or the first. */
export function useChosenNumber(rows: readonly Row[], metric: string | undefined) {
  const titles = metricTitles(rows, useTitlesOf()(rows[0]?.workload ?? ""));
  const [first = ""] = titles.keys();
  const key = metric !== undefined && titles.has(metric) ? metric : first;
  const having = useMemo(() => rowsWith(rows, key), [rows, key]);
  return { key, titles, title: titles.get(key) ?? "", rows: having };
}

interface ChoiceProps {
  readonly label: string;
  /** Titles by value. */
  readonly choices: Iterable<readonly [string, string]>;
  readonly value: string;
  readonly onChoose: (value: string) => void;
}

export function Choice({ label, choices, value, onChoose }: ChoiceProps) {
  return (
    <NativeSelect
      aria-label={label}
      data={[...choices].map(([choice, title]) => ({ value: choice, label: title }))}
      onChange={({ currentTarget }) => onChoose(currentTarget.value)}
      size="xs"
      value={value}
    />
  );
}

interface DifferencesProps extends Pick<Compared, "names" | "rows"> {
  /** Says that not all ran the same. */
  readonly warning?: string | undefined;
}

/** Differences only, each once however many rows have it; nothing of a side that a row does not have. */
export function Differences({ names, rows, warning }: DifferencesProps) {
  const titlesOf = useTitlesOf();
  const once = new Map(
    rows
      .flatMap((row) => row.differences.map((one) => ({ row, ...one })))
      .reverse()
      .map((one) => [JSON.stringify([one.name, one.row.workload, one.values, one.row.cells.map(Boolean)]), one]),
  );
  if (once.size === 0) return null;
  const seen = rows.length > 1;
  return (
    <Stack gap="xs">
      {warning && (
        <Alert color="orange" variant="light">
          {warning}
        </Alert>
      )}
      <ScrollTable
        head={[t`Unlike in`, ...names, ...(seen ? [t`First seen at`] : [])]}
        label={t`Differences`}
      >
        {[...once].reverse().map(([key, { row, name, values }]) => (
          <tr key={key}>
            <td>{titleOfDimension(name, titlesOf(row.workload))}</td>
            {values.map((value, place) => (
              <td className="iotide-wrap" key={names[place]}>
                {row.cells[place] && <OptionValue name={name.replace(/^options\./, "")} value={value} />}
              </td>
            ))}
            {seen && <td className="iotide-wrap">{row.name}</td>}
          </tr>
        ))}
      </ScrollTable>
    </Stack>
  );
}
