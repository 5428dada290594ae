/** Medians, ranges and the runs behind them; a table for each workload and metric. */

import { t } from "@lingui/core/macro";
import { Trans } from "@lingui/react/macro";
import type { Cell, CellResult } from "@/api/types";
import { cautionsOf } from "@/components/flagWords";
import { useTitlesOf } from "@/components/optionTitles";
import { PaperTable } from "@/components/PaperTable";
import { RunLinks } from "@/components/RunLinks";
import { Row } from "@/components/ScrollTable";
import { useUnitsWords } from "@/components/UnitsNote";
import { formatValue } from "@/lib/units";
import { groupResults, type ResultGroup, type ResultRow } from "../results";

const HEAD = [t`Of`, t`Node and target`, t`Median`, t`Min`, t`Max`, "n", t`Spread`, t`Of runs`];

export function ReportResults({ cells }: { cells: readonly Cell[] }) {
  const titlesOf = useTitlesOf();
  const units = useUnitsWords();
  return (
    <>
      {groupResults(cells, titlesOf).map((group) => (
        <GroupTable group={group} key={group.key} />
      ))}
      <p className="quiet">
        <Trans>
          n counts valid runs; below four there is no interval. Spread is the coefficient of variation. Runs
          that were rejected or failed are listed below and in no number above.
        </Trans>
      </p>
      <p className="quiet">{units}</p>
    </>
  );
}

function GroupTable({ group }: { group: ResultGroup }) {
  const title = `${group.workload}: ${group.title}`;
  return (
    <section>
      <h3>{title}</h3>
      <PaperTable head={HEAD} label={title}>
        {group.rows.map((row) => (
          <MeasuredRow key={`${row.cell.id} ${row.result.series_id}`} row={row} />
        ))}
      </PaperTable>
    </section>
  );
}

function MeasuredRow({ row: { cell, result, what } }: { row: ResultRow }) {
  const { n, unit, median, low, high, tier, variation_ratio: variation } = result;
  const cautions = cautionsOf(result.flags);
  const variant = cell.variant ? t`, in ${cell.variant}` : "";
  return (
    <Row>
      {what || t`all alike`}
      {t`${cell.node_names.join(", ")} on ${cell.target_names.join(", ")}${variant}`}
      <td className={cautions.length > 0 ? "quiet number" : "strong number"}>
        {formatValue(median, unit)}
        {cautions.length > 0 && <div className="cautions">{cautions.join(", ")}</div>}
      </td>
      <td className="number">{n > 1 ? formatValue(low, unit) : t`one run`}</td>
      <td className="number">{n > 1 ? formatValue(high, unit) : t`one run`}</td>
      {n}
      {variation === null ? noSpread(tier) : formatValue(variation, "ratio")}
      <RunLinks ids={cell.counted_runs} />
    </Row>
  );
}

function noSpread(tier: CellResult["tier"]): string {
  return tier === "enough_runs" ? t`below the clock's resolution` : t`too few`;
}
