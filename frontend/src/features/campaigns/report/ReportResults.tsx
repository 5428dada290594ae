/** Result tables of a report: primary metrics, and the others folded. */

import { t } from "@lingui/core/macro";
import { Trans } from "@lingui/react/macro";
import { useInfiniteQuery } from "@tanstack/react-query";
import { useEffect } from "react";
import type { CellResult } from "@/api/types";
import { cautionsOf } from "@/components/flagWords";
import { Loaded } from "@/components/Page";
import { PaperTable } from "@/components/PaperTable";
import { RunLinks } from "@/components/RunLinks";
import { PaperFold } from "@/components/report/ReportPage";
import { Row } from "@/components/ScrollTable";
import { useUnitsWords } from "@/components/UnitsNote";
import { formatValue } from "@/lib/units";
import { cellsQuery } from "../queries";
import type { ResultGroup, ResultRow } from "../results";
import { useResults } from "../useResults";

export function ReportResults({ campaignId }: { campaignId: number }) {
  const cells = useInfiniteQuery(cellsQuery(campaignId));
  const { hasNextPage, isFetchingNextPage, fetchNextPage } = cells;
  useEffect(() => {
    if (hasNextPage && !isFetchingNextPage) void fetchNextPage();
  }, [hasNextPage, isFetchingNextPage, fetchNextPage]);
  return (
    <Loaded
      empty={<p>{t`No valid results.`}</p>}
      isEmpty={(rows) => !hasNextPage && rows.every(({ results }) => results.length === 0)}
      query={cells}
    >
      {() => <Tables campaignId={campaignId} />}
    </Loaded>
  );
}

function Tables({ campaignId }: { campaignId: number }) {
  const units = useUnitsWords();
  const results = useResults(campaignId);
  if (!results) return null;
  const { primary, others } = results;
  return (
    <>
      {primary.map((group) => (
        <GroupTable group={group} key={group.key} />
      ))}
      <p className="quiet">
        <Trans>
          n is the number of valid runs; an interval needs at least four. Spread is the coefficient of
          variation. Rejected and failed runs do not count. {units}
        </Trans>
      </p>
      {others.length > 0 && (
        <PaperFold title={t`Other metrics (${others.length})`}>
          {others.map((group) => (
            <GroupTable group={group} key={group.key} />
          ))}
        </PaperFold>
      )}
    </>
  );
}

const HEAD = [t`Configuration`, t`Node and target`, t`Median`, t`Min`, t`Max`, "n", t`Spread`, t`Runs`];

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
      {what || t`same options`}
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
  return tier === "enough_runs" ? t`below clock resolution` : t`too few runs`;
}
