/** Numbers of every side, with what is said of each against the baseline in its cell. */

import { t } from "@lingui/core/macro";
import { Trans } from "@lingui/react/macro";
import { Group, Text } from "@mantine/core";
import type { ReactNode } from "react";
import type { SidesMetric, SideVerdict } from "@/api/types";
import { DirectionBadge } from "@/components/DirectionBadge";
import { cautionsOf } from "@/components/flagWords";
import { IntervalMark } from "@/components/IntervalMark";
import { reachOf } from "@/components/interval";
import { MedianRatio } from "@/components/MedianRatio";
import { RunNumbers } from "@/components/RunNumbers";
import { ScrollTable } from "@/components/ScrollTable";
import type { ExportTable } from "@/lib/exported";
import { formatP, formatShift, formatValue } from "@/lib/units";
import type { Cell, Compared, MetricRow } from "./compared";

/** What stands at a side of so few runs that there is no interval, to have it run again. */
export type RenderRepeats = (cell: Pick<Cell, "campaign_id" | "cell_id">, runs: number) => ReactNode;

interface NumbersTableProps {
  readonly compared: Compared;
  /** Its name, and the title of its first column. */
  readonly label: string;
  readonly head: string;
  readonly rows: readonly MetricRow[];
  readonly exported: () => ExportTable;
  readonly renderRepeats?: RenderRepeats;
}

export function NumbersTable({ compared, label, head, rows, exported, renderRepeats }: NumbersTableProps) {
  const { names, against } = compared;
  const titles = names.map((name, place) => (place === against ? t`${name} (baseline)` : name));
  const reach = reachOf(
    rows.flatMap(({ metric: { verdicts } }) => verdicts.flatMap((one) => (one && intervalOf(one)) ?? [])),
  );
  return (
    <ScrollTable exported={{ table: exported }} head={[head, ...titles]} label={label}>
      {rows.map(({ name, cells, metric }) => (
        <tr key={[name, ...cells.map((cell) => cell?.cell_id)].join(" ")}>
          <th className="iotide-wrap" scope="row">
            {name}
          </th>
          {cells.map((cell, place) => {
            const [numbers, verdict] = [metric.numbers[place], metric.verdicts[place]];
            const both = [numbers, metric.numbers[against]];
            return (
              <td className="iotide-wrap" key={names[place]} style={{ verticalAlign: "top" }}>
                {numbers && <RunNumbers {...numbers} unit={metric.unit} />}
                {cell && !numbers && <Text c="dimmed">{t`not measured`}</Text>}
                {cell && verdict && (
                  <Verdict
                    better={metric.better}
                    isAlike={cell.is_alike}
                    isCautioned={both.some((one) => one && cautionsOf(one.flags).length > 0)}
                    reach={reach}
                    verdict={verdict}
                  />
                )}
                {cell && numbers && renderRepeats?.(cell, numbers.n)}
              </td>
            );
          })}
        </tr>
      ))}
    </ScrollTable>
  );
}

interface VerdictProps {
  readonly verdict: SideVerdict;
  readonly better: SidesMetric["better"];
  /** It ran what the baseline ran. */
  readonly isAlike: boolean;
  /** Something speaks against trusting one of the two numbers. */
  readonly isCautioned: boolean;
  /** How far the drawings of the table reach. */
  readonly reach: number;
}

/** What is drawn: the ratio with its interval, or that of the medians; nothing where there is no ratio. */
function intervalOf({ ratio, low, high, median_ratio }: SideVerdict) {
  const shown = ratio ?? median_ratio;
  return shown === null ? null : { ratio: shown, low: ratio && low, high: ratio && high };
}

/** Bold where it is judged and nothing speaks against it; grey with too few runs, or where the two did not run the same. */
function Verdict({ verdict, better, isAlike, isCautioned, reach }: VerdictProps) {
  const { ratio, low, high, median_ratio, words, p_value, is_discovery } = verdict;
  const isShown = verdict.verdict === "higher" || verdict.verdict === "lower";
  const isJudged = isShown && isAlike && is_discovery === true && ratio !== null;
  const direction = better === "neither" ? null : better === verdict.verdict ? "better" : "worse";
  const interval = intervalOf(verdict);
  const isGrey = !isAlike || ratio === null;
  return (
    <Text {...(isGrey && { c: "dimmed" })} component="div" size="sm">
      <Group gap="xs">
        <span>
          {ratio !== null && (
            <span className={isJudged && !isCautioned ? "iotide-number iotide-strong" : "iotide-number"}>
              {formatShift(ratio)}
            </span>
          )}
          {ratio === null && median_ratio !== null && <MedianRatio ratio={median_ratio} />}
          {low !== null && high !== null && (
            <span className="iotide-number">
              {" "}
              <Trans>
                ({formatShift(low)} to {formatShift(high)})
              </Trans>
            </span>
          )}
        </span>
        {interval && <IntervalMark isFaint={isGrey} of={interval} reach={reach} />}
        {isJudged && <DirectionBadge change={{ shift_ratio: ratio - 1, direction }} />}
      </Group>
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
