import { t } from "@lingui/core/macro";
import { Anchor, Badge } from "@mantine/core";
import { FlagTitles, MeasuredValue } from "@/components/MeasuredValue";
import { ScrollTable } from "@/components/ScrollTable";
import { Datum, Quantity } from "@/components/values";
import { type ExportTable, plainCell, toCsv } from "@/lib/exported";
import type { TitleOf } from "@/lib/options";
import { formatRoughFactor, formatRoughPercent } from "@/lib/units";
import type { Layout, Measure } from "./choice";
import { isPublished, ratiosTo } from "./ratios";
import { type FigureRow, textOf, titleOfDimension } from "./rows";
import { idealShares } from "./scaling";

interface FigureTableProps {
  readonly layout: Layout;
  readonly dimensions: readonly string[];
  readonly measure: Measure;
  readonly titleOf: TitleOf;
}

const MOST_ROWS = 500;

export function FigureTable({ layout, dimensions, measure, titleOf }: FigureTableProps) {
  const { rows } = layout;
  const titles = dimensions.map((name) => titleOfDimension(name, titleOf));
  const ratios = layout.base && ratiosTo(layout.base, rows, dimensions);
  const shares = layout.kind === "scaling" ? idealShares(rows, dimensions) : undefined;
  return (
    <details className="iotide-beside">
      <summary>{t`Table of ${measure.title}`}</summary>
      <Anchor
        download={`${measure.key}.csv`}
        href={`data:text/csv;charset=utf-8,${encodeURIComponent(toCsv(runsTable(rows, dimensions, measure)))}`}
        size="sm"
      >{t`Download CSV (one run per line)`}</Anchor>
      <ScrollTable
        head={[
          ...titles,
          t`Median`,
          ...(layout.base ? [t`Ratio to ${layout.base.text}`] : []),
          ...(shares ? [t`Share of ideal`] : []),
          t`Min`,
          t`Max`,
          t`Runs`,
          t`Flags`,
        ]}
        label={t`Table of ${measure.title}`}
        maxHeight={440}
      >
        {rows.slice(0, MOST_ROWS).map((row) => (
          <tr key={dimensions.map((name) => textOf(row, name)).join(" ")}>
            {dimensions.map((name) => (
              <td key={name}>
                <span data-export={JSON.stringify({ value: plainCell(row.parts[name]) })}>
                  {textOf(row, name)}
                </span>
              </td>
            ))}
            <td>
              <MeasuredValue flags={row.measured.flags} unit={measure.unit} value={row.measured.median} />
            </td>
            {ratios && (
              <td>
                <Ratio ratio={ratios.get(row)} />
              </td>
            )}
            {shares && (
              <td>
                <Share share={shares.get(row)} />
              </td>
            )}
            <td>{row.measured.n > 1 && <Quantity unit={measure.unit} value={row.measured.low} />}</td>
            <td>{row.measured.n > 1 && <Quantity unit={measure.unit} value={row.measured.high} />}</td>
            <td>
              <Datum value={row.measured.n}>
                {row.measured.n > 1 ? row.measured.n : <OneRun isPublished={isPublished(row)} />}
              </Datum>
            </td>
            <td>
              <FlagTitles codes={row.measured.flags} />
            </td>
          </tr>
        ))}
      </ScrollTable>
      {rows.length > MOST_ROWS && t`${rows.length - MOST_ROWS} more rows are in the CSV.`}
    </details>
  );
}

function Ratio({ ratio }: { ratio: number | undefined }) {
  return ratio !== undefined && <Datum value={ratio}>{formatRoughFactor(ratio)}</Datum>;
}

function Share({ share }: { share: number | undefined }) {
  return share !== undefined && <Datum value={share}>{`${formatRoughPercent(share)} %`}</Datum>;
}

function OneRun({ isPublished }: { isPublished: boolean }) {
  return <Badge color={isPublished ? "indigo" : "orange"}>{isPublished ? t`not stated` : t`1 run`}</Badge>;
}

/** Return one row per run, in base units. */
export function runsTable(
  rows: readonly FigureRow[],
  dimensions: readonly string[],
  measure: Measure,
): ExportTable {
  return {
    columns: [...dimensions, "run_id", measure.key, "unit", "flags"],
    rows: rows.flatMap(({ parts, measured }) =>
      measured.values.map((value, index) => [
        ...dimensions.map((name) => plainCell(parts[name])),
        measured.run_ids[index] ?? null,
        value,
        measure.unit,
        measured.flags.join(" "),
      ]),
    ),
  };
}
