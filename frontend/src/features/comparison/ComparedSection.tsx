/** Section of a comparison: differences in setup, figure, table and a sentence. */

import { t } from "@lingui/core/macro";
import { NativeSelect, Stack } from "@mantine/core";
import { type ComponentProps, type ReactNode, useMemo } from "react";
import { Hint } from "@/components/looks";
import { OptionValue } from "@/components/OptionValue";
import { useTitlesOf } from "@/components/optionTitles";
import { Section } from "@/components/Page";
import { useScheme } from "@/components/preferences";
import { ScrollTable } from "@/components/ScrollTable";
import { Plot } from "@/plots/Plot";
import { shiftsFigure, shiftsHeight } from "@/plots/shifts";
import {
  type ChosenNumber,
  type Compared,
  optionOf,
  type Row,
  runsFigure,
  shiftsOf,
  textOfPart,
  titleOfDimension,
} from "./compared";
import { comparedTable } from "./exports";

interface ComparedSectionProps extends Omit<ComponentProps<typeof Section>, "children"> {
  /** Rows whose differences are shown first. */
  readonly unlike?: Pick<Compared, "names" | "rows"> | undefined;
  readonly figure?: ComponentProps<typeof Figures>;
  readonly table?: ReactNode;
  readonly sentence?: ReactNode;
}

export function ComparedSection({ unlike, figure, table, sentence, ...section }: ComparedSectionProps) {
  return (
    <Section {...section}>
      <Stack gap="sm">
        {unlike && <Differences {...unlike} />}
        {figure && <Figures {...figure} />}
        {table}
        {sentence && <Hint>{sentence}</Hint>}
      </Stack>
    </Section>
  );
}

interface FiguresProps {
  readonly compared: Compared;
  readonly number: ChosenNumber;
}

/** All runs, with the ratios to the baseline if there are any. */
function Figures({ compared, number: { key, title, drawn } }: FiguresProps) {
  const scheme = useScheme();
  const { names, against } = compared;
  const axis = t`Relative to ${names[against] ?? ""} (%)`;
  const runs = useMemo(() => runsFigure(drawn, names, scheme), [drawn, names, scheme]);
  const shifts = useMemo(() => shiftsOf(drawn, names), [drawn, names]);
  const ratios = useMemo(() => shiftsFigure(shifts, scheme, axis), [shifts, scheme, axis]);
  return (
    <div className="iotide-panels">
      <Plot figure={runs} height={380} label={t`${title}, runs of every side`} viewKey={title} />
      {shifts.some(({ ratio }) => ratio !== null) && (
        <Plot
          exported={{ table: () => comparedTable(compared, key) }}
          figure={ratios}
          height={Math.max(380, shiftsHeight(shifts))}
          label={t`${title}, sides relative to the baseline`}
          viewKey={title}
        />
      )}
    </div>
  );
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

export function isUnlike({ cells }: Row): boolean {
  return cells.some((cell) => cell && !cell.is_alike);
}

/** Lists each difference once. */
function Differences({ names, rows }: Pick<Compared, "names" | "rows">) {
  const titlesOf = useTitlesOf();
  const all = rows.flatMap((row) =>
    row.differences.map(({ name, values }) => {
      const title = titleOfDimension(name, titlesOf(row.workload));
      const texts = values.map((value, place) => (row.cells[place] ? textOfPart(name, value) : ""));
      return { row, option: optionOf(name), values, title, key: [title, ...texts].join(" ") };
    }),
  );
  const once = all.filter(({ key }, at) => all.findIndex((one) => one.key === key) === at);
  const seen = rows.length > 1 ? [t`First found in`] : [];
  if (once.length === 0) return null;
  return (
    <Stack gap="xs">
      <ScrollTable head={[t`Differences in setup`, ...names, ...seen]} label={t`Differences`}>
        {once.map(({ key, row, option, values, title }) => (
          <tr key={key}>
            <td>{title}</td>
            {values.map((value, place) => (
              <td className="iotide-wrap" key={names[place]}>
                {row.cells[place] && <OptionValue name={option} value={value} />}
              </td>
            ))}
            {seen.length > 0 && <td className="iotide-wrap">{row.name}</td>}
          </tr>
        ))}
      </ScrollTable>
    </Stack>
  );
}
