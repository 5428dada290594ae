/** The forest plot of a comparison: ratio with interval, runs and verdict of each primary metric. */

import { t } from "@lingui/core/macro";
import { Button, Group, Space, Stack, Text } from "@mantine/core";
import { useMemo, useState } from "react";
import { DirectionBadge } from "@/components/badges";
import { IntervalAxis, IntervalMark } from "@/components/IntervalMark";
import { Detail, Hint } from "@/components/looks";
import { MedianRatio } from "@/components/MedianRatio";
import { useTitlesOf } from "@/components/optionTitles";
import { ScrollTable } from "@/components/ScrollTable";
import type { ExportTable } from "@/lib/exported";
import { formatShift } from "@/lib/units";
import type { Compared } from "./compared";
import { countsOf, countWords, type ForestRow, forestOf, ticksOf } from "./forest";

const MOST_ROWS = 24;
const MARK_PIXELS = 240;

interface ForestTableProps {
  readonly compared: Compared;
  readonly exported: () => ExportTable;
}

export function ForestTable({ compared, exported }: ForestTableProps) {
  const titleOf = useTitlesOf()(compared.rows[0]?.workload ?? "");
  const forest = useMemo(() => forestOf(compared, titleOf), [compared, titleOf]);
  const [isAll, setIsAll] = useState(false);
  const shown = isAll ? forest.rows : forest.rows.slice(0, MOST_ROWS);
  const baseline = compared.names[compared.against] ?? "";
  return (
    <Stack gap="xs">
      {countsOf(forest).map((counts) => (
        <Text fw={600} key={counts.side} size="lg">
          {t`${compared.names[counts.side] ?? ""} compared with ${baseline}: ${countWords(counts)}`}
        </Text>
      ))}
      <ScrollTable
        exported={{ table: exported }}
        head={[t`Metric`, t`Ratio to ${baseline}, right is better`]}
        label={t`Primary metrics`}
      >
        <tr className="iotide-band">
          <td />
          <td className="iotide-forest">
            <IntervalAxis reach={forest.reach} ticks={ticksOf(forest.reach)} width={MARK_PIXELS} />
          </td>
        </tr>
        {shown.map((row) => (
          <ForestLine key={row.key} reach={forest.reach} row={row} />
        ))}
      </ScrollTable>
      {shown.length < forest.rows.length && (
        <Button
          onClick={() => setIsAll(true)}
          size="xs"
          variant="default"
          w="fit-content"
        >{t`Show all ${forest.rows.length} rows`}</Button>
      )}
      <Hint>
        {t`Lines are 95 % confidence intervals on a logarithmic axis. Grey and hollow: fewer than 4 runs, one day each, or a different setup.`}
      </Hint>
    </Stack>
  );
}

function ForestLine({ row, reach }: { row: ForestRow; reach: number }) {
  const { judged, interval, drawn, runs, name, details } = row;
  const { verdict, isGrey, isJudged } = judged;
  return (
    <tr>
      <th scope="row" title={details}>
        {name}
      </th>
      <td className="iotide-forest">
        <Group style={{ gap: "4px 12px" }}>
          {drawn && interval ? (
            <IntervalMark isFaint={isGrey} of={drawn} reach={reach} width={MARK_PIXELS} written={interval} />
          ) : (
            <Space visibleFrom="sm" w={MARK_PIXELS} />
          )}
          <div className="iotide-forest-ratio">
            {verdict.ratio === null ? (
              interval && <MedianRatio ratio={interval.ratio} />
            ) : (
              <Text
                {...(isGrey && { c: "dimmed" })}
                className="iotide-number"
                fw={isJudged ? 600 : 400}
                inherit
                span
              >
                {formatShift(verdict.ratio)}
              </Text>
            )}
            {verdict.low !== null && verdict.high !== null && (
              <Detail>{t`${formatShift(verdict.low)} to ${formatShift(verdict.high)}`}</Detail>
            )}
          </div>
          <Detail className="iotide-forest-runs">{t`n ${runs[0]} and ${runs[1]}`}</Detail>
          <Verdict row={row} />
        </Group>
      </td>
    </tr>
  );
}

function Verdict({ row: { judged } }: { row: ForestRow }) {
  const { verdict, isAlike, isJudged, direction } = judged;
  if (isJudged) return <DirectionBadge change={{ shift_ratio: (verdict.ratio ?? 1) - 1, direction }} />;
  return <Detail>{isAlike ? verdict.words : t`the setup differs`}</Detail>;
}
