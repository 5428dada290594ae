import { t } from "@lingui/core/macro";
import { useMemo } from "react";
import type { ExplorerRun } from "@/api/types";
import { Fold } from "@/components/Fold";
import { Hint } from "@/components/looks";
import { useTitlesOf } from "@/components/optionTitles";
import { useScheme } from "@/components/preferences";
import { formatCount } from "@/lib/units";
import { comparisonFigure } from "@/plots/comparison";
import { axisScale, MAX_TRACES } from "@/plots/figure";
import { Plot } from "@/plots/Plot";
import { type RunScaling, scalingOf } from "./scaling";

/** Renders nothing unless the runs are of one workload with several numbers of nodes or tasks. */
export function ScalingFold({ runs }: { runs: readonly ExplorerRun[] }) {
  const titlesOf = useTitlesOf();
  const found = useMemo(() => scalingOf(runs, titlesOf), [runs, titlesOf]);
  if (!found) return null;
  return (
    <Fold title={t`Scaling of ${found.workload} over nodes and tasks`}>
      <ScalingPlot found={found} />
    </Fold>
  );
}

function ScalingPlot({ found }: { found: RunScaling }) {
  const scheme = useScheme();
  const { groups, totals, title, unit, hasTasks, highest, scaling, workload } = found;
  const figure = useMemo(
    () =>
      comparisonFigure(groups.slice(0, MAX_TRACES), {
        metricTitle: title,
        scale: axisScale(unit, [highest]),
        highest,
        axis: {
          kind: "number",
          title: hasTasks ? t`Tasks on all nodes` : t`Nodes`,
          ticks: totals.map((at) => ({ at, text: formatCount(at) })),
        },
        scheme,
        scaling,
      }),
    [groups, title, unit, highest, hasTasks, totals, scheme, scaling],
  );
  const undrawn = groups.length - MAX_TRACES;
  return (
    <>
      <Plot figure={figure} height={320} label={t`Scaling of ${workload}: ${title}`} viewKey={workload} />
      <Hint>
        {t`Valid runs of the table. Each point is a run; lines are medians. Dashed: the smallest configuration's value for each further task.`}
        {undrawn > 0 && t` ${undrawn} more do not fit. Filter the table.`}
      </Hint>
    </>
  );
}
