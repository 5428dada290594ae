import { t } from "@lingui/core/macro";
import { Anchor, Badge, Button, Stack } from "@mantine/core";
import { useMemo, useState } from "react";
import type { Points } from "@/api/types";
import { FlagTitles, MeasuredValue } from "@/components/MeasuredValue";
import { ScrollTable } from "@/components/ScrollTable";
import { Quantity, When } from "@/components/values";
import type { Span } from "@/plots/timeAxis";
import type { ChosenPoint, NamedPoints } from "./drawn";
import { pointsExport } from "./exports";

interface TrendTableProps {
  readonly lines: readonly NamedPoints[];
  readonly onChoose: (point: ChosenPoint) => void;
  readonly span: Span;
}

const ROWS_AT_ONCE = 200;

/** Points, newest first, limited to what renders without delay. */
export function TrendTable({ lines, onChoose, span }: TrendTableProps) {
  const [shownRows, setShownRows] = useState(ROWS_AT_ONCE);
  const rows = useMemo(() => newestFirst(lines), [lines]);
  return (
    <Stack gap="xs">
      <ScrollTable
        exported={pointsExport(lines, span)}
        head={[t`Time`, t`Median`, t`Series`, t`Min`, t`Max`, t`Runs`, t`Flags`]}
        label={t`Points of the trend`}
        maxHeight={440}
      >
        {rows.slice(0, shownRows).map(({ name, points, index, at }) => (
          <tr key={`${points.series.id} ${points.cell_id[index]}`}>
            <td>
              <Anchor
                component="button"
                onClick={() => onChoose({ seriesId: points.series.id, cellId: points.cell_id[index] ?? 0 })}
                size="sm"
                type="button"
              >
                <When at={at} />
              </Anchor>
            </td>
            <td>
              <MeasuredValue
                flags={points.flags[index] ?? []}
                unit={points.series.unit}
                usual={points.usual_flags[index] ?? []}
                value={points.median[index] ?? null}
              />
            </td>
            <td className="iotide-name">{name}</td>
            <Spread index={index} points={points} />
            <td>
              <FlagTitles codes={points.flags[index] ?? []} />
            </td>
          </tr>
        ))}
      </ScrollTable>
      {shownRows < rows.length && (
        <Button onClick={() => setShownRows(shownRows + ROWS_AT_ONCE)} variant="default" w="fit-content">
          {t`Show older points, ${rows.length - shownRows} left`}
        </Button>
      )}
    </Stack>
  );
}

function newestFirst(lines: readonly NamedPoints[]) {
  return lines
    .flatMap(({ name, points }) =>
      points.at.map((at, index) => ({ name, points, index, at, milliseconds: Date.parse(at) })),
    )
    .sort((a, b) => b.milliseconds - a.milliseconds);
}

function Spread({ points, index }: { points: Points; index: number }) {
  const { unit } = points.series;
  const runs = points.n[index] ?? 0;
  return (
    <>
      <td>{runs > 1 && <Quantity unit={unit} value={points.low[index] ?? null} />}</td>
      <td>{runs > 1 && <Quantity unit={unit} value={points.high[index] ?? null} />}</td>
      <td>{runs > 1 ? runs : <Badge color="orange">{t`1 run`}</Badge>}</td>
    </>
  );
}
