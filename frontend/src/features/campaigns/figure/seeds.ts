/** Common figures of storage benchmarks, offered if a campaign has their axes; pure. */

import { t } from "@lingui/core/macro";
import type { CampaignMeasures } from "@/api/types";
import type { FigureView } from "./choice";
import { type FigureRow, isNumeric, valuesOf } from "./rows";
import { canScale } from "./scaling";

export interface Seed {
  readonly title: string;
  readonly view: FigureView;
}

type Metric = CampaignMeasures["metrics"][number];

/** A line needs two points. */
const FEWEST_PLACES = 2;
const WRITERS = ["writers", "processes", "numjobs", "jobs"];

/** Return the figures that a workload's metrics and dimensions allow. */
export function seedsOf(metrics: readonly Metric[], workload: string, rows: readonly FigureRow[]): Seed[] {
  const own = metrics.filter((metric) => metric.workload === workload);
  const parted = own.find(({ unit, labels }) => unit === "seconds" && labels.includes("part"));
  const named = (...names: string[]) => own.find(({ metric }) => names.includes(metric));
  const rate = named("total_throughput") ?? named("throughput");
  const record = named("throughput") ?? rate;
  const creation = named("total_operation_rate") ?? named("operation_rate");
  const scaled = rate ?? creation;
  const writers = WRITERS.find((name) => hasLine(rows, name));
  const place = ["variant", "target"].find((name) => valuesOf(rows, name).length >= FEWEST_PLACES);
  const hasSizes = hasLine(rows, "file_size_bytes");
  const hasRecords = hasLine(rows, "record_size_bytes");
  return [
    ...(parted && hasSizes
      ? [seed(t`Wall-clock time against file size`, workload, parted, "file_size_bytes", { part: "real" })]
      : []),
    ...(parted
      ? [
          {
            title: t`Real = user + sys + wait`,
            view: { workload, show: parted.metric, kind: "parts" } as const,
          },
        ]
      : []),
    ...(scaled && canScale(rows)
      ? [
          {
            title: t`Scaling over nodes and tasks`,
            view: { workload, show: scaled.metric, kind: "scaling" } as const,
          },
        ]
      : []),
    ...(rate && writers ? [seed(t`Throughput against writers`, workload, rate, writers)] : []),
    ...(record && hasRecords
      ? [seed(t`Throughput against record size`, workload, record, "record_size_bytes")]
      : []),
    ...(creation && place ? [seed(t`Create rates by file system`, workload, creation, place)] : []),
  ];
}

function seed(
  title: string,
  workload: string,
  { metric }: Metric,
  x: string,
  only?: Record<string, string>,
): Seed {
  return { title, view: { workload, show: metric, kind: "points", x, ...(only && { only }) } };
}

function hasLine(rows: readonly FigureRow[], name: string): boolean {
  const values = valuesOf(rows, name).filter((value) => value !== undefined);
  return values.length >= FEWEST_PLACES && isNumeric(rows, name);
}
