/** Values of all sides with a verdict against the baseline. Two sides have separate columns for it. */

import { t } from "@lingui/core/macro";
import { Group, Text } from "@mantine/core";
import type { ReactNode } from "react";
import { DirectionBadge } from "@/components/badges";
import { conditionsOf } from "@/components/conditionsOf";
import { IntervalMark } from "@/components/IntervalMark";
import { reachOf } from "@/components/interval";
import { Detail } from "@/components/looks";
import { MedianRatio } from "@/components/MedianRatio";
import { Reasons } from "@/components/Reasons";
import { RunNumbers } from "@/components/RunNumbers";
import { ScrollTable } from "@/components/ScrollTable";
import { Datum } from "@/components/values";
import type { ExportTable } from "@/lib/exported";
import { formatP, formatShift } from "@/lib/units";
import { type Cell, type Compared, intervalOf, type Judged, judgedOf, type MetricRow } from "./compared";

/** Renders a button that adds repeats where an interval needs more runs. */
export type RenderRepeats = (cell: Pick<Cell, "campaign_id" | "cell_id">, runs: number) => ReactNode;

interface NumbersTableProps {
  readonly compared: Compared;
  readonly label: string;
  readonly head: string;
  readonly rows: readonly MetricRow[];
  readonly exported: () => ExportTable;
  readonly renderRepeats?: RenderRepeats;
}

export function NumbersTable({ compared, label, head, rows, exported, renderRepeats }: NumbersTableProps) {
  const { names, against } = compared;
  const isOfTwo = names.length === 2;
  const titles = names.map((name, place) => (place === against ? t`${name} (baseline)` : name));
  const verdicts = rows.flatMap(({ metric }) => metric.verdicts);
  const reach = reachOf(verdicts.flatMap((one) => (one && intervalOf(one)) ?? []));
  return (
    <ScrollTable
      exported={{ table: exported }}
      head={[head, ...titles, ...(isOfTwo ? [t`Ratio`, t`Verdict`, "p"] : [])]}
      label={label}
    >
      {rows.map((row) => {
        const { name, cells, metric } = row;
        const judgements = cells.map((_, place) => judgedOf(row, place, against));
        const [only] = judgements.filter((one) => one !== null);
        return (
          <tr key={[name, ...cells.map((cell) => cell?.cell_id)].join(" ")}>
            <th className="iotide-wrap" scope="row">
              {name}
            </th>
            {cells.map((cell, place) => {
              const [numbers, judged] = [metric.numbers[place], judgements[place]];
              return (
                <td
                  className="iotide-wrap"
                  key={names[place]}
                  style={{ verticalAlign: isOfTwo ? "middle" : "top" }}
                >
                  {numbers && <RunNumbers {...numbers} unit={metric.unit} />}
                  {cell && !numbers && <Text c="dimmed">{t`not measured`}</Text>}
                  {judged && !isOfTwo && (
                    <Text component="div" size="sm">
                      <Ratio {...judged} />
                      <Words {...judged} p={judged.verdict.p_value} />
                    </Text>
                  )}
                  {cell && numbers && renderRepeats?.(cell, numbers.n)}
                </td>
              );
            })}
            {isOfTwo && only && (
              <>
                <td>
                  <Ratio {...only} reach={reach} />
                </td>
                <td className="iotide-wrap">
                  <Words {...only} p={null} />
                </td>
                <td>
                  {only.verdict.p_value !== null && (
                    <Datum value={only.verdict.p_value}>{formatP(only.verdict.p_value)}</Datum>
                  )}
                </td>
              </>
            )}
          </tr>
        );
      })}
    </ScrollTable>
  );
}

/** Bold if the verdict is reliable. Also drawn if `reach` is given. */
function Ratio({ verdict, isGrey, isJudged, isTrusted, reach }: Judged & { readonly reach?: number }) {
  const { ratio, low, high, median_ratio } = verdict;
  const interval = intervalOf(verdict);
  return (
    <Group {...(isGrey && { c: "dimmed" })} gap="xs" wrap="nowrap">
      <div>
        {ratio !== null && (
          <span className={isJudged && isTrusted ? "iotide-number iotide-strong" : "iotide-number"}>
            {formatShift(ratio)}
          </span>
        )}
        {ratio === null && median_ratio !== null && <MedianRatio ratio={median_ratio} />}
        {low !== null && high !== null && <Detail>{t`${formatShift(low)} to ${formatShift(high)}`}</Detail>}
      </div>
      {interval && reach !== undefined && <IntervalMark isFaint={isGrey} of={interval} reach={reach} />}
    </Group>
  );
}

function Words({ verdict, isGrey, isAlike, isJudged, direction, p }: Judged & { readonly p: number | null }) {
  const { ratio, words } = verdict;
  return (
    <>
      {isJudged && (
        <>
          <DirectionBadge change={{ shift_ratio: (ratio ?? 1) - 1, direction }} />{" "}
        </>
      )}
      <Text {...(isGrey && { c: "dimmed" })} component="span" inherit>
        {words}
      </Text>
      <Detail>
        {[
          ...(isAlike ? [] : [t`the setup differs`]),
          ...(p === null ? [] : [`p ${formatP(p)}`]),
          ...conditionsOf(verdict),
        ].join("; ")}
      </Detail>
      <Reasons reasons={verdict.reasons} />
    </>
  );
}
