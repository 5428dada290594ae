/** Table of runs of any length. It renders only visible rows and loads the rest by page. */

import { t } from "@lingui/core/macro";
import { Box, Checkbox, Text, UnstyledButton } from "@mantine/core";
import { useEffect } from "react";
import type { ExplorerRun, RunSort, Sparkline } from "@/api/types";
import { RunLink } from "@/components/links";
import { RunCells, useCellContext } from "./cells";
import type { RowsInSight } from "./useRowsInSight";
import { COLUMNS, type ColumnId, type ExplorerView, sortOf, togglePin } from "./view";
import "./explorer.css";

export const ROW_PIXELS = 36;

interface RunGridProps {
  readonly runs: readonly ExplorerRun[];
  readonly columns: readonly ColumnId[];
  readonly courses: ReadonlyMap<number, Sparkline>;
  readonly baseline: ExplorerRun | undefined;
  readonly view: ExplorerView;
  readonly onView: (change: ExplorerView) => void;
  readonly inSight: RowsInSight;
  readonly total: number | undefined;
  readonly onEnd: () => void;
}

export function RunGrid({
  runs,
  columns,
  courses,
  baseline,
  view,
  onView,
  inSight,
  total,
  onEnd,
}: RunGridProps) {
  const { boxRef, onScroll, first, last } = inSight;
  const context = useCellContext(baseline, courses, columns);
  useEffect(() => {
    if (last >= runs.length) onEnd();
  }, [last, runs.length, onEnd]);
  return (
    <Box
      aria-label={t`Runs, scrollable`}
      className="iotide-run-grid"
      onScroll={onScroll}
      ref={boxRef}
      role="group"
      tabIndex={0}
    >
      <div style={{ paddingTop: first * ROW_PIXELS, paddingBottom: (runs.length - last) * ROW_PIXELS }}>
        <table aria-label={t`Runs`} aria-rowcount={(total ?? runs.length) + 1} className="iotide-table">
          <Head
            canSortByValue={view.workload !== undefined}
            columns={columns}
            onSort={(sort) => onView({ sort: sort === "newest" ? undefined : sort })}
            sort={sortOf(view)}
          />
          <tbody>
            {runs.slice(first, last).map((run, index) => (
              <tr aria-rowindex={first + index + 2} key={run.id}>
                <RunName
                  isPinned={view.pins?.includes(run.id) ?? false}
                  onPin={(runId) => onView(togglePin(view, runId))}
                  runId={run.id}
                />
                <RunCells context={context} run={run} />
              </tr>
            ))}
          </tbody>
        </table>
      </div>
    </Box>
  );
}

interface RunNameProps {
  readonly runId: number;
  readonly isPinned: boolean;
  readonly onPin: (runId: number) => void;
}

export function RunName({ runId, isPinned, onPin }: RunNameProps) {
  return (
    <td className="iotide-run-name">
      <Checkbox
        aria-label={t`Pin run ${runId}`}
        checked={isPinned}
        onChange={() => onPin(runId)}
        size="xs"
        title={t`Pinned runs stay above the table and can be compared.`}
      />
      <RunLink fw={600} id={runId} />
    </td>
  );
}

/** Sort orders of a column, the more common one first. */
const SORTS: Partial<Record<ColumnId, readonly [RunSort, RunSort]>> = {
  at: ["newest", "oldest"],
  duration: ["longest", "shortest"],
  value: ["highest", "lowest"],
};
const DESCENDING: ReadonlySet<RunSort> = new Set(["newest", "longest", "highest"]);

interface HeadProps {
  readonly columns: readonly ColumnId[];
  readonly sort: RunSort;
  /** False with runs of several workloads, whose values cannot be compared. */
  readonly canSortByValue: boolean;
  readonly onSort: (sort: RunSort) => void;
}

function Head({ columns, ...sorting }: HeadProps) {
  return (
    <thead>
      <tr aria-rowindex={1}>
        <th className="iotide-run-name" scope="col">{t`Run`}</th>
        {columns.map((id) => (
          <ColumnHead id={id} key={id} {...sorting} />
        ))}
      </tr>
    </thead>
  );
}

function ColumnHead({ id, sort, canSortByValue, onSort }: Omit<HeadProps, "columns"> & { id: ColumnId }) {
  const title = COLUMNS.find((column) => column.id === id)?.title ?? id;
  const [first, second] = SORTS[id] ?? [];
  if (!first || !second || (id === "value" && !canSortByValue))
    return (
      <th
        data-column={id}
        scope="col"
        title={id === "value" ? t`Choose a workload to sort by value.` : undefined}
      >
        {title}
      </th>
    );
  const isSorted = sort === first || sort === second;
  const direction = DESCENDING.has(sort) ? "descending" : "ascending";
  return (
    <th aria-sort={isSorted ? direction : "none"} data-column={id} scope="col">
      <UnstyledButton
        className="iotide-sort"
        onClick={() => onSort(sort === first ? second : first)}
        title={t`Sort: ${sort === first ? second : first} first`}
      >
        {title}
        <Text aria-hidden="true" component="span" inherit>
          {isSorted ? (direction === "descending" ? " ↓" : " ↑") : " ↕"}
        </Text>
      </UnstyledButton>
    </th>
  );
}
