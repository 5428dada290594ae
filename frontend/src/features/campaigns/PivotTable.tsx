/** Pivot table of a metric. Rows beyond the first are folded; the export has all. */

import { t } from "@lingui/core/macro";
import { Group, Text, Title } from "@mantine/core";
import { useMemo, useState } from "react";
import { TextLink } from "@/components/links";
import { Detail, RowButton } from "@/components/looks";
import { useTitlesOf } from "@/components/optionTitles";
import { ScrollTable } from "@/components/ScrollTable";
import { type CellContext, PartsLegend, PivotCell } from "./PivotCell";
import { type PivotRow, pivotOf } from "./pivot";
import { legendOf, lettersOf, type NoteLetters } from "./pivotNotes";
import { type ResultGroup, resultsTable, surfaceSource } from "./results";

const MOST_ROWS = 12;
/** With more columns a table takes the whole width. */
const MOST_NARROW_COLUMNS = 2;
const DIRECTIONS = { higher: t`higher is better`, lower: t`lower is better`, neither: "" };

export interface PivotTableProps extends CellContext {
  readonly group: ResultGroup;
  readonly campaignId: number;
}

export function PivotTable({ group, campaignId, ...context }: PivotTableProps) {
  const titlesOf = useTitlesOf();
  const pivot = useMemo(() => pivotOf(group, titlesOf(group.workload)), [group, titlesOf]);
  const { shownElsewhere } = context;
  const letters = useMemo(() => lettersOf(pivot, shownElsewhere), [pivot, shownElsewhere]);
  const [isWhole, setIsWhole] = useState(false);
  const title = `${group.workload}: ${group.title}`;
  const hasParts = pivot.rows.some(({ values }) => values.flat().some(({ parts }) => parts.length > 0));
  return (
    <div data-wide={pivot.columns.length > MOST_NARROW_COLUMNS || undefined}>
      <Group gap="xs">
        <Title order={3} size="h5">
          {title}
        </Title>
        <Detail>{DIRECTIONS[group.rows[0]?.result.better ?? "neither"]}</Detail>
        {hasParts && <PartsLegend />}
        <SurfaceLink campaignId={campaignId} group={group} />
      </Group>
      <ScrollTable
        exported={{ table: () => resultsTable(group) }}
        head={[t`Configuration`, ...pivot.columns.map(({ name }) => name)]}
        label={title}
      >
        {(isWhole ? pivot.rows : pivot.rows.slice(0, MOST_ROWS)).map((row) => (
          <ResultsRow
            columns={pivot.columns}
            context={context}
            key={row.key}
            largest={pivot.largest}
            letters={letters}
            row={row}
          />
        ))}
      </ScrollTable>
      {pivot.rows.length > MOST_ROWS && !isWhole && (
        <RowButton
          mt="xs"
          onClick={() => setIsWhole(true)}
        >{t`Show all ${pivot.rows.length} rows`}</RowButton>
      )}
      {letters.size > 0 && <Detail>{legendOf(letters)}</Detail>}
    </div>
  );
}

interface ResultsRowProps {
  readonly row: PivotRow;
  readonly columns: ReturnType<typeof pivotOf>["columns"];
  readonly largest: number;
  readonly letters: NoteLetters;
  readonly context: CellContext;
}

function ResultsRow({ row, columns, largest, letters, context }: ResultsRowProps) {
  return (
    <tr>
      <th scope="row">{row.name || t`same options`}</th>
      {row.values.map((values, place) => (
        <td key={columns[place]?.key}>
          {values.length === 0 && <Text c="dimmed" size="sm">{t`not measured`}</Text>}
          {values.map((value) => (
            <PivotCell
              key={`${value.cell.id} ${value.result.series_id}`}
              largest={largest}
              letters={letters}
              name={[row.name, columns[place]?.name].filter(Boolean).join(", ")}
              value={value}
              {...context}
            />
          ))}
        </td>
      ))}
    </tr>
  );
}

function SurfaceLink({ group, campaignId }: Pick<PivotTableProps, "group" | "campaignId">) {
  const a = surfaceSource(group, campaignId);
  if (a === null) return null;
  return (
    <TextLink search={{ a, metric: group.metric }} size="sm" to="/surfaces" underline="always">
      {t`Show surface`}
    </TextLink>
  );
}
