/** The numbers of a figure as a table and as CSV. */

import { Anchor, Badge } from "@mantine/core";
import { Quantity } from "@/components/Quantity";
import { ScrollTable } from "@/components/ScrollTable";
import type { TitleOf } from "@/lib/options";
import { scaleFor } from "@/lib/units";
import type { Layout, Measure } from "./choice";
import { type FigureRow, textOf, titleOfDimension } from "./rows";

interface FigureTableProps {
  readonly layout: Layout;
  readonly dimensions: readonly string[];
  readonly measure: Measure;
  readonly titleOf: TitleOf;
}

const MOST_ROWS = 500;

export function FigureTable({ layout, dimensions, measure, titleOf }: FigureTableProps) {
  const { rows } = layout;
  const scale = scaleFor(
    measure.unit,
    rows.reduce((most, { measured }) => Math.max(most, Math.abs(measured.high)), 0),
  );
  const titles = dimensions.map((name) => titleOfDimension(name, titleOf));
  return (
    <details>
      <summary>Table of {measure.title}</summary>
      <Anchor
        download={`${measure.key}.csv`}
        href={`data:text/csv;charset=utf-8,${encodeURIComponent(asCsv(rows, dimensions, measure))}`}
        size="sm"
      >
        Download as CSV, one run a line
      </Anchor>
      <ScrollTable
        head={[...titles, "Median", "Min", "Max", "Runs", "Flags"]}
        label={`Table of ${measure.title}`}
        maxHeight={440}
      >
        {rows.slice(0, MOST_ROWS).map((row) => (
          <tr key={dimensions.map((name) => textOf(row, name)).join(" ")}>
            {dimensions.map((name) => (
              <td key={name}>{textOf(row, name)}</td>
            ))}
            <td className="iotide-strong">
              <Quantity scale={scale} unit={measure.unit} value={row.measured.median} />
            </td>
            <td>
              {row.measured.n > 1 && <Quantity scale={scale} unit={measure.unit} value={row.measured.low} />}
            </td>
            <td>
              {row.measured.n > 1 && <Quantity scale={scale} unit={measure.unit} value={row.measured.high} />}
            </td>
            <td>{row.measured.n > 1 ? row.measured.n : <OneRun />}</td>
            <td>{row.measured.flags.join(", ")}</td>
          </tr>
        ))}
      </ScrollTable>
      {rows.length > MOST_ROWS && `${rows.length - MOST_ROWS} more rows are in the CSV.`}
    </details>
  );
}

function OneRun() {
  return (
    <Badge color="orange" tt="none" variant="light">
      1 run
    </Badge>
  );
}

/** In base units; every field in quotes, so that no value needs thought. */
export function asCsv(rows: readonly FigureRow[], dimensions: readonly string[], measure: Measure): string {
  const lines = rows.flatMap((row) =>
    row.measured.values.map((value, index) => [
      ...dimensions.map((name) => plain(row.parts[name])),
      String(row.measured.run_ids[index]),
      String(value),
      measure.unit,
      row.measured.flags.join(" "),
    ]),
  );
  const head = [...dimensions, "run_id", measure.key, "unit", "flags"];
  return [head, ...lines].map((line) => `${line.map(quoted).join(",")}\n`).join("");
}

function plain(value: unknown): string {
  if (value === undefined || value === null) return "";
  return typeof value === "object" ? JSON.stringify(value) : String(value);
}

function quoted(text: string): string {
  return `"${text.replaceAll('"', '""')}"`;
}
