/** Result tables of a report: primary metrics, and the others folded. */

import { t } from "@lingui/core/macro";
import { Trans } from "@lingui/react/macro";
import { useInfiniteQuery } from "@tanstack/react-query";
import { useEffect, useMemo } from "react";
import { cautionsOf } from "@/components/flagWords";
import { useTitlesOf } from "@/components/optionTitles";
import { Loaded, Loading } from "@/components/Page";
import { PaperTable } from "@/components/PaperTable";
import { RunLinks } from "@/components/RunLinks";
import { PaperFold } from "@/components/report/ReportPage";
import { useUnitsWords } from "@/components/UnitsNote";
import { formatSpread, formatValue } from "@/lib/units";
import { type Pivot, type PivotRow, pivotOf } from "../pivot";
import { legendOf, lettersFor, lettersOf, type NoteLetters, notesOfValue, statedWords } from "../pivotNotes";
import { cellsQuery } from "../queries";
import type { Measured, ResultGroup } from "../results";
import { useResults } from "../useResults";

/** More rows of a table are folded. */
const MOST_PRINTED_ROWS = 20;

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
  if (!results) return <Loading lines={3} />;
  const { primary, others } = results;
  const stated = statedWords(primary);
  return (
    <>
      {primary.map((group) => (
        <GroupTable group={group} key={group.key} stated={stated} />
      ))}
      <p className="quiet">
        <Trans>
          Medians, ± the coefficient of variation; below: smallest and largest value, number n of valid runs
          and their ids. {units}
        </Trans>
      </p>
      {others.length > 0 && (
        <PaperFold title={t`Other metrics (${others.length})`}>
          {others.map((group) => (
            <GroupTable group={group} key={group.key} stated={stated} />
          ))}
        </PaperFold>
      )}
    </>
  );
}

interface GroupTableProps {
  readonly group: ResultGroup;
  /** Notes of all values, which the answer has. */
  readonly stated: readonly string[];
}

function GroupTable({ group, stated }: GroupTableProps) {
  const titlesOf = useTitlesOf();
  const { pivot, letters } = useMemo(() => {
    const found = pivotOf(group, titlesOf(group.workload));
    return { pivot: found, letters: lettersOf(found, stated) };
  }, [group, stated, titlesOf]);
  const title = `${group.workload}: ${group.title}`;
  const shared = { pivot, letters, stated, title };
  return (
    <section>
      <h3>{title}</h3>
      <Rows {...shared} rows={pivot.rows.slice(0, MOST_PRINTED_ROWS)} />
      {pivot.rows.length > MOST_PRINTED_ROWS && (
        <PaperFold title={t`${pivot.rows.length - MOST_PRINTED_ROWS} more rows of ${title}`}>
          <Rows {...shared} rows={pivot.rows.slice(MOST_PRINTED_ROWS)} />
        </PaperFold>
      )}
      {letters.size > 0 && <p className="quiet">{legendOf(letters)}</p>}
    </section>
  );
}

interface RowsProps {
  readonly pivot: Pivot;
  readonly rows: readonly PivotRow[];
  readonly letters: NoteLetters;
  readonly stated: readonly string[];
  readonly title: string;
}

function Rows({ pivot: { columns }, rows, letters, stated, title }: RowsProps) {
  return (
    <PaperTable head={[t`Configuration`, ...columns.map(({ name }) => name)]} label={title}>
      {rows.map(({ key, name, values }) => (
        <tr key={key}>
          <td>{name || t`same options`}</td>
          {values.map((own, place) => (
            <td key={columns[place]?.key}>
              {own.length === 0 && t`not measured`}
              {own.map(({ cell, result }) => (
                <Value
                  cell={cell}
                  key={`${cell.id} ${result.series_id}`}
                  letters={letters}
                  result={result}
                  stated={stated}
                />
              ))}
            </td>
          ))}
        </tr>
      ))}
    </PaperTable>
  );
}

function Value({ cell, result, letters, stated }: Measured & Pick<RowsProps, "letters" | "stated">) {
  const { n, unit, median, low, high, variation_ratio: variation, flags } = result;
  const notes = lettersFor(notesOfValue(result, stated), letters);
  return (
    <div>
      <span className={cautionsOf(flags).length > 0 ? "quiet" : "strong"}>{formatValue(median, unit)}</span>{" "}
      {variation !== null && formatSpread(variation)} {notes && <sup>{notes}</sup>}
      <div className="quiet">
        <Trans>
          {n > 1 && t`${formatValue(low, unit)} to ${formatValue(high, unit)},`} n {n}:{" "}
          <RunLinks ids={cell.counted_runs} />
        </Trans>
      </div>
    </div>
  );
}
