/** Pinned runs with their ratios to the baseline. */

import { t } from "@lingui/core/macro";
import { Button, Group, Radio } from "@mantine/core";
import type { ExplorerRun, Sparkline } from "@/api/types";
import { ButtonLink } from "@/components/links";
import { Hint } from "@/components/looks";
import { Loaded, type Query, Section } from "@/components/Page";
import { ScrollTable } from "@/components/ScrollTable";
import { RunCells, useCellContext } from "./cells";
import { runsTable } from "./exports";
import { RunName } from "./RunGrid";
import { COLUMNS, type ColumnId, cellsOf, type ExplorerView, togglePin } from "./view";

interface PinnedRunsProps {
  readonly pinned: Query<ExplorerRun[]>;
  readonly view: ExplorerView;
  readonly columns: readonly ColumnId[];
  readonly courses: ReadonlyMap<number, Sparkline>;
  readonly onView: (change: ExplorerView) => void;
}

export function PinnedRuns({ pinned, view, columns, courses, onView }: PinnedRunsProps) {
  const cells = cellsOf(pinned.data ?? [], view.baseline);
  return (
    <Section
      actions={
        <>
          <Button
            onClick={() => onView({ pins: undefined, baseline: undefined })}
            size="xs"
            variant="default"
          >{t`Unpin all`}</Button>
          {cells.length > 1 && (
            <ButtonLink search={{ cells }} size="xs" to="/compare">{t`Compare pinned`}</ButtonLink>
          )}
        </>
      }
      description={describeUse(cells.length)}
      title={t`Pinned runs`}
    >
      <Loaded query={pinned}>
        {(runs) => (
          <PinnedTable columns={columns} courses={courses} onView={onView} runs={runs} view={view} />
        )}
      </Loaded>
    </Section>
  );
}

function describeUse(cells: number): string {
  const hint =
    cells > 1
      ? t`The comparison uses all valid runs of their configurations and gives a verdict.`
      : t`To compare, pin a run of another configuration. Repeats of one configuration form one side.`;
  return t`Ratios compare single runs with the baseline if both have the same setup. ${hint}`;
}

interface PinnedTableProps extends Omit<PinnedRunsProps, "pinned"> {
  readonly runs: readonly ExplorerRun[];
}

function PinnedTable({ runs, view, columns, courses, onView }: PinnedTableProps) {
  const baseline = runs.find(({ id }) => id === view.baseline);
  const context = useCellContext(baseline, courses, columns);
  const titles = columns.map((id) => COLUMNS.find((column) => column.id === id)?.title ?? id);
  return (
    <>
      <ScrollTable
        exported={{ table: () => runsTable(runs, baseline) }}
        head={[t`Run`, t`Baseline`, ...titles]}
        label={t`Pinned runs`}
      >
        {runs.map((run) => (
          <tr key={run.id}>
            <RunName isPinned onPin={(runId) => onView(togglePin(view, runId))} runId={run.id} />
            <td>
              <Radio
                aria-label={t`Run ${run.id} is the baseline`}
                checked={run.id === view.baseline}
                name="baseline"
                onChange={() => onView({ baseline: run.id })}
                size="xs"
              />
            </td>
            <RunCells context={context} run={run} />
          </tr>
        ))}
      </ScrollTable>
      {runs.length < (view.pins?.length ?? 0) && (
        <Group mt="xs">
          <Hint>
            {t`${(view.pins?.length ?? 0) - runs.length} of the pinned runs do not exist, or you have no access to them.`}
          </Hint>
        </Group>
      )}
    </>
  );
}
