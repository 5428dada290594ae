import { t } from "@lingui/core/macro";
import { Detail } from "@/components/looks";
import { type ExportRecord, plainCell, spread } from "@/lib/exported";
import { describeValues, type Values } from "@/lib/options";
import { TextLink } from "./links";
import { useTitlesOf } from "./optionTitles";

interface SeriesNameProps {
  readonly series: {
    readonly id: number;
    readonly workload: string;
    readonly metric: string;
    readonly title: string;
    readonly labels: Values;
    readonly options?: Values;
    readonly node_names: readonly string[];
    readonly target_names: readonly string[];
    readonly variant?: string;
  };
  readonly clusterId: number;
  /** Shown in lists with series of several clusters. */
  readonly clusterName?: string | undefined;
  /** The point at which the trend opens. */
  readonly cellId?: number | undefined;
}

export function SeriesName({ series, clusterId, clusterName, cellId }: SeriesNameProps) {
  const titleOf = useTitlesOf()(series.workload, clusterId);
  const { workload, metric, title, labels, options, node_names, target_names, variant } = series;
  const details = describeValues({ ...options, ...labels }, titleOf);
  const place = [
    t`${node_names.join(", ")} on ${target_names.join(", ") || t`no target`}`,
    variant,
    clusterName,
  ];
  return (
    <>
      <TextLink
        fw={600}
        params={{ clusterId }}
        search={{ workload, metric, series: [series.id], cell: cellId }}
        to="/clusters/$clusterId/trend"
      >
        {workload}: {title}
      </TextLink>
      <Detail data-export={JSON.stringify(columnsOf(series))}>
        {[details, ...place].filter(Boolean).join(" · ")}
      </Detail>
    </>
  );
}

function columnsOf({
  id,
  metric,
  options,
  labels,
  node_names,
  target_names,
}: SeriesNameProps["series"]): ExportRecord {
  return {
    id,
    metric,
    ...spread("option_", options ?? {}),
    ...spread("label_", labels),
    nodes: plainCell(node_names),
    targets: plainCell(target_names),
  };
}
