/** What a run measured, each number with its unit. */

import { t } from "@lingui/core/macro";
import { Badge, Text } from "@mantine/core";
import type { RunDetail } from "@/api/types";
import { flagsConcerning } from "@/components/flagWords";
import { TextLink } from "@/components/links";
import { MeasuredValue } from "@/components/MeasuredValue";
import { useTitlesOf } from "@/components/optionTitles";
import { ScrollTable } from "@/components/ScrollTable";
import { type ExportRecord, spread } from "@/lib/exported";
import { describeValues } from "@/lib/options";
import { nodeOf } from "./nodeOf";

export function MetricsTable({ run }: { run: RunDetail }) {
  const titleOf = useTitlesOf()(run.workload);
  if (run.samples.length === 0) return <NoSample run={run} />;
  const isPartial = run.state === "failed" || run.state === "cancelled";
  return (
    <>
      {isPartial && (
        <Text size="sm">{t`The run did not end its work. These numbers are of the part before that and count nowhere.`}</Text>
      )}
      <ScrollTable head={[t`Metric`, t`Value`, t`Better`, ""]} label={t`Metrics`}>
        {run.samples.map((sample) => (
          <tr key={sample.id}>
            <td className="iotide-name">
              {sample.title}
              <Text c="dimmed" data-export={JSON.stringify(labelColumns(run, sample))} size="xs">
                {[nodeOf(run, sample.order_id), describeValues(sample.labels, titleOf)]
                  .filter(Boolean)
                  .join(": ")}
              </Text>
              {sample.superseded !== null && <Superseded because={sample.superseded} />}
            </td>
            <td className={sample.superseded === null ? undefined : "iotide-superseded"}>
              <MeasuredValue
                flags={flagsConcerning(run.flags, sample.labels)}
                unit={sample.unit}
                value={sample.value}
              />
            </td>
            <td>{sample.better}</td>
            <td>
              <TextLink
                params={{ clusterId: run.cluster_id }}
                search={{
                  workload: run.workload,
                  metric: sample.metric,
                  series: [sample.series_id],
                  cell: run.cell_id,
                }}
                to="/clusters/$clusterId/trend"
              >{t`Trend`}</TextLink>
            </td>
          </tr>
        ))}
      </ScrollTable>
    </>
  );
}

/** Labels by name, and the metric by its code. */
function labelColumns(
  run: RunDetail,
  { metric, labels, order_id }: RunDetail["samples"][number],
): ExportRecord {
  return { code: metric, node: nodeOf(run, order_id) || null, ...spread("label_", labels) };
}

/** Says why a number counts no more. */
function Superseded({ because }: { because: string }) {
  return (
    <Text maw={420} size="xs" style={{ whiteSpace: "normal" }}>
      <Badge color="orange" size="sm" variant="light">{t`superseded`}</Badge> {because}
    </Text>
  );
}

function NoSample({ run }: { run: RunDetail }) {
  const words = {
    waiting: t`It has not started.`,
    active: t`The numbers appear when it has finished.`,
    finished: t`It finished without a sample.`,
    failed: t`It failed before anything was measured.`,
    cancelled: t`It was cancelled before anything was measured.`,
  };
  return <Text c="dimmed">{words[run.state]}</Text>;
}
