import type { ExportSource } from "@/components/export/ExportButton";
import type { ExportTable } from "@/lib/exported";
import type { Span } from "@/plots/timeAxis";
import type { NamedPoints } from "./drawn";
import { pointsPath } from "./queries";

/** Export menu entries of a trend. */
export function pointsExport(lines: readonly NamedPoints[], span: Span): Partial<ExportSource> {
  const ids = lines.map(({ points }) => points.series.id);
  return { hasFiles: true, path: pointsPath(ids, span), table: () => pointsTable(lines) };
}

/** One row per point, in base units and UTC. */
export function pointsTable(lines: readonly NamedPoints[]): ExportTable {
  const [unit = "count"] = new Set(lines.map(({ points }) => points.series.unit));
  const values = ["Median", "Min", "Max"].map((name) => `${name} [${unit}]`);
  return {
    columns: ["Series", "Time", ...values, "Runs", "Flags", "Campaign", "Cell"],
    rows: lines.flatMap(({ name, points }) =>
      points.at.map((at, place) => [
        name,
        at,
        points.median[place] ?? null,
        points.low[place] ?? null,
        points.high[place] ?? null,
        points.n[place] ?? null,
        (points.flags[place] ?? []).join(" "),
        points.campaign_id[place] ?? null,
        points.cell_id[place] ?? null,
      ]),
    ),
  };
}
