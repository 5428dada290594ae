/** Scaling of the runs of a table over nodes and tasks. */

import { t } from "@lingui/core/macro";
import type { ExplorerRun } from "@/api/types";
import { groupBy } from "@/lib/grouping";
import { describeValues, type TitleOf, type Values, varyingNames } from "@/lib/options";
import { medianOf } from "@/lib/percentile";
import { idealLine, idealShare, isOnAxis, RATES, spanOf, tasksInAll, tasksOption } from "@/lib/scaling";
import { formatRoughPercent, type Unit } from "@/lib/units";
import type { ComparedGroup, Scaling } from "@/plots/comparison";

export interface RunScaling {
  readonly title: string;
  readonly unit: Unit;
  readonly workload: string;
  /** The tasks of each node are an option; otherwise nodes are counted. */
  readonly hasTasks: boolean;
  readonly groups: readonly ComparedGroup[];
  /** Tasks on all nodes. */
  readonly totals: readonly number[];
  readonly highest: number;
  readonly scaling: Scaling;
}

const NODES = "nodes";

interface Place {
  readonly run: ExplorerRun;
  readonly value: number;
  readonly total: number;
  /** Tasks of a node. */
  readonly tasks: unknown;
  /** All but nodes and tasks. */
  readonly others: Values;
}

/** Return the scaling of valid runs of one workload and metric; undefined unless a setup was run at two sizes. */
export function scalingOf(runs: readonly ExplorerRun[], titleOf: (workload: string) => TitleOf) {
  const places = runs.flatMap(placeOf);
  const [first] = places;
  if (!first?.run.headline) return undefined;
  const { workload, headline } = first.run;
  const isOne = places.every(
    ({ run }) => run.workload === workload && run.headline?.metric === headline.metric,
  );
  const alike = [...groupBy(places, ({ others }) => JSON.stringify(others)).values()];
  const grown = alike.filter((own) => new Set(own.map(({ total }) => total)).size > 1);
  if (!isOne || !RATES.includes(headline.unit) || grown.length === 0) return undefined;
  return drawn(grown, { workload, title: headline.title, unit: headline.unit }, titleOf(workload));
}

function placeOf(run: ExplorerRun): Place[] {
  const { options, headline, state, validity, node_names: nodes } = run;
  if (!headline || state !== "finished" || validity !== "valid" || "writer" in headline.labels) return [];
  const total = tasksInAll(options, nodes.length);
  if (!isOnAxis(total)) return [];
  const name = tasksOption(options) ?? "";
  const { [name]: tasks, ...rest } = options;
  const { [NODES]: _, ...labels } = headline.labels;
  const place = { cluster: run.cluster_name, target: run.target_names.join(" + "), variant: run.variant };
  const others = { ...place, ...rest, ...labels };
  return [{ run, value: headline.value, total, tasks, others }];
}

function drawn(
  setups: readonly Place[][],
  measured: Pick<RunScaling, "workload" | "title" | "unit">,
  titleOf: TitleOf,
): RunScaling {
  const places = setups.flat();
  const name = places.map(({ run }) => tasksOption(run.options)).find((option) => option !== undefined);
  const rows = places.map(({ others, tasks }) => ({ ...others, ...(name && { [name]: tasks }) }));
  const varying = varyingNames(rows);
  const lines = setups.map((own) => ({ own, ideal: idealLine(medians(own)) }));
  const groups = lines.flatMap(({ own, ideal }) =>
    [...groupBy(own, ({ tasks }) => String(tasks)).values()].map((line) => ({
      name: describeValues({ ...line[0]?.others, ...(name && { [name]: line[0]?.tasks }) }, titleOf, varying),
      runs: [...groupBy(line, ({ total }) => String(total)).values()].map((same) => {
        const at = same[0]?.total ?? 0;
        const median = medianOf(same.map(({ value }) => value));
        const share = ideal && idealShare({ tasks: at, value: median }, ideal.from);
        return {
          at,
          median,
          values: same.map(({ value }) => value),
          runIds: same.map(({ run }) => run.id),
          flags: [...new Set(same.flatMap(({ run }) => run.flags))],
          note: share === undefined ? "" : t`${formatRoughPercent(share)} % of ideal`,
        };
      }),
    })),
  );
  const ideals = lines.flatMap(({ ideal }) => (ideal ? [ideal] : []));
  const values = places.map(({ value }) => value);
  return {
    ...measured,
    hasTasks: name !== undefined,
    groups,
    totals: [...new Set(places.map(({ total }) => total))].sort((a, b) => a - b),
    highest: Math.max(...values),
    scaling: { ideals, span: spanOf([...values, ...ideals.map(({ to }) => to.value)]) },
  };
}

function medians(places: readonly Place[]) {
  return [...groupBy(places, ({ total, tasks }) => `${total} ${tasks}`).values()].map((same) => ({
    tasks: same[0]?.total ?? 0,
    value: medianOf(same.map(({ value }) => value)),
  }));
}
