/** Every row of a comparison of many sides: the baseline, and of each other side its number, ratio, interval and verdict. */

import { t } from "@lingui/core/macro";
import { Trans } from "@lingui/react/macro";
import { Text } from "@mantine/core";
import type { SideNumbers, SideOfRow, SidesMetric, SideVerdict } from "@/api/types";
import { DirectionBadge } from "@/components/DirectionBadge";
import { cautionsOf } from "@/components/flagWords";
import { MedianRatio } from "@/components/MedianRatio";
import { RunNumbers } from "@/components/RunNumbers";
import { ScrollTable } from "@/components/ScrollTable";
import type { ExportTable } from "@/lib/exported";
import { formatP, formatShift, formatValue } from "@/lib/units";
import { ENOUGH_RUNS, type RenderRepeats } from "./repeats";
import type { DrawnRow } from "./sidesFigures";

interface SidesTableProps {
  readonly rows: readonly DrawnRow[];
  readonly names: readonly string[];
  readonly against: number;
  readonly exported: () => ExportTable;
  readonly renderRepeats: RenderRepeats;
}

export function SidesTable({ rows, names, against, exported, renderRepeats }: SidesTableProps) {
  const head = names.map((name, place) => (place === against ? `${name} (baseline)` : name));
  return (
    <ScrollTable exported={{ table: exported }} head={["", ...head]} label={t`Verdicts`}>
      {rows.map(({ name, row, metric }) => (
        <tr key={row.cells.map((cell) => cell?.cell_id).join(" ")}>
          <th className="iotide-wrap" scope="row">
            {name}
          </th>
          {row.cells.map((cell, place) => (
            <td className="iotide-wrap" key={names[place]} style={{ verticalAlign: "top" }}>
              {cell && (
                <SideCell
                  cell={cell}
                  isBaseline={place === against}
                  isCautioned={isCautioned(metric.numbers[place], metric.numbers[against])}
                  metric={metric}
                  numbers={metric.numbers[place] ?? null}
                  renderRepeats={renderRepeats}
                  verdict={metric.verdicts[place] ?? null}
                />
              )}
            </td>
          ))}
        </tr>
      ))}
    </ScrollTable>
  );
}

/** Something speaks against trusting one of these numbers. */
function isCautioned(...numbers: readonly (SideNumbers | null | undefined)[]): boolean {
  return numbers.some((one) => one && cautionsOf(one.flags).length > 0);
}

interface SideCellProps {
  readonly cell: SideOfRow;
  readonly isBaseline: boolean;
  readonly isCautioned: boolean;
  readonly metric: SidesMetric;
  readonly numbers: SideNumbers | null;
  readonly verdict: SideVerdict | null;
  readonly renderRepeats: RenderRepeats;
}

const GREY = { c: "dimmed" } as const;

function SideCell(props: SideCellProps) {
  const { cell, isBaseline, isCautioned, metric, numbers, verdict, renderRepeats } = props;
  if (!numbers) return <Text c="dimmed">{t`not measured`}</Text>;
  const missing = ENOUGH_RUNS - numbers.n;
  return (
    <>
      <Numbers numbers={numbers} unit={metric.unit} />
      {!isBaseline && verdict && (
        <Verdict isAlike={cell.is_alike} isCautioned={isCautioned} metric={metric} verdict={verdict} />
      )}
      {missing > 0 && renderRepeats(cell, missing)}
    </>
  );
}

function Numbers({ numbers, unit }: NumbersProps) {
  const { median, values, flags, modes } = numbers;
  return <RunNumbers flags={flags} median={median} modes={modes} unit={unit} values={values} />;
}

interface NumbersProps {
  readonly numbers: SideNumbers;
  readonly unit: SidesMetric["unit"];
}

interface VerdictProps {
  readonly verdict: SideVerdict;
  readonly metric: SidesMetric;
  readonly isAlike: boolean;
  readonly isCautioned: boolean;
}

/** Bold where it is judged and nothing speaks against it; grey with too few runs, or where the two did not run the same. */
function Verdict({ verdict, metric: { better }, isAlike, isCautioned }: VerdictProps) {
  const { ratio, low, high, median_ratio, words, p_value, is_discovery } = verdict;
  const isShown = verdict.verdict === "higher" || verdict.verdict === "lower";
  const isJudged = isShown && isAlike && is_discovery === true && ratio !== null;
  const direction = better === "neither" ? null : better === verdict.verdict ? "better" : "worse";
  return (
    <Text {...(!(isAlike && ratio !== null) && GREY)} component="div" size="sm">
      {ratio !== null && (
        <span className={isJudged && !isCautioned ? "iotide-number iotide-strong" : "iotide-number"}>
          {formatShift(ratio)}{" "}
        </span>
      )}
      {ratio === null && median_ratio !== null && <MedianRatio ratio={median_ratio} />}
      {low !== null && high !== null && (
        <span className="iotide-number">
          <Trans>
            ({formatShift(low)} to {formatShift(high)}){" "}
          </Trans>
        </span>
      )}
      {isJudged && <DirectionBadge change={{ shift_ratio: ratio - 1, direction }} />}
      <div>{words}</div>
      <Text c="dimmed" size="xs">
        {!isAlike && t`It did not run the same. `}
        {p_value !== null && `p ${formatP(p_value)}. `}
        {isShown &&
          is_discovery === false &&
          t`Among so many comparisons it may be chance (false discoveries of ${formatValue(0.05, "ratio")}).`}
      </Text>
    </Text>
  );
}
