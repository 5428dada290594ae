import { t } from "@lingui/core/macro";
import { Badge, Text } from "@mantine/core";
import type { RunDetail, Sample } from "@/api/types";
import { TextLink } from "@/components/links";
import { Detail } from "@/components/looks";
import { MeasuredValue } from "@/components/MeasuredValue";
import { useTitlesOf } from "@/components/optionTitles";
import { Row, ScrollTable } from "@/components/ScrollTable";
import { type ExportRecord, spread } from "@/lib/exported";
import { describeValues } from "@/lib/options";
import { measuredNodeOf } from "./nodeOf";
import { flagsOfNumber, isPartial } from "./numberFlags";
import { headlineSamples } from "./summary";

const MAX_HEIGHT = 440;

/** The values of the headline's metric; all others are folded. */
export function MetricsTable({ run }: { run: RunDetail }) {
  if (run.samples.length === 0) return <NoSample run={run} />;
  const main = headlineSamples(run.samples);
  const others = run.samples.filter((sample) => !main.includes(sample));
  return (
    <>
      {isPartial(run) && (
        <Text size="sm">{t`The run did not complete. These values cover the part that ran and are not used in results.`}</Text>
      )}
      {main.length > 0 && <SamplesTable label={t`Metrics`} run={run} samples={main} />}
      <MoreMetrics run={run} samples={others} />
    </>
  );
}

export function MoreMetrics({ run, samples }: Pick<SamplesTableProps, "run" | "samples">) {
  if (samples.length === 0) return null;
  return (
    <details>
      <summary>{t`More metrics (${samples.length})`}</summary>
      <SamplesTable label={t`More metrics`} run={run} samples={samples} />
    </details>
  );
}

interface SamplesTableProps {
  readonly run: RunDetail;
  readonly samples: readonly Sample[];
  readonly label: string;
}

function SamplesTable({ run, samples, label }: SamplesTableProps) {
  const titleOf = useTitlesOf()(run.workload);
  return (
    <ScrollTable head={[t`Metric`, t`Value`, ""]} label={label} maxHeight={MAX_HEIGHT}>
      {samples.map((sample) => (
        <Row key={sample.id}>
          <td className="iotide-name">
            {sample.title}
            <Detail data-export={JSON.stringify(labelColumns(run, sample))}>
              {[placeOf(run, sample), describeValues(sample.labels, titleOf)].filter(Boolean).join(": ")}
            </Detail>
            {sample.superseded !== null && <Superseded because={sample.superseded} />}
          </td>
          <td className={sample.superseded === null ? undefined : "iotide-superseded"}>
            <MeasuredValue {...flagsOfNumber(run, sample)} unit={sample.unit} value={sample.value} />
          </td>
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
        </Row>
      ))}
    </ScrollTable>
  );
}

/** For example `node1, scratch`: where the value was measured, if the run has several nodes or targets. */
function placeOf(run: RunDetail, sample: Sample): string {
  return [measuredNodeOf(run, sample.order_id), targetOf(run, sample)].filter(Boolean).join(", ");
}

/** Null if the run has one target, or the value covers all targets. */
function targetOf({ target_names }: RunDetail, { target_name }: Sample): string | null {
  return target_names.length > 1 ? target_name : null;
}

/** The metric's code and the label names. */
function labelColumns(run: RunDetail, sample: Sample): ExportRecord {
  return {
    code: sample.metric,
    better: sample.better,
    node: measuredNodeOf(run, sample.order_id) || null,
    target: targetOf(run, sample),
    ...spread("label_", sample.labels),
  };
}

/** Explains why a value is superseded. */
function Superseded({ because }: { because: string }) {
  return (
    <Text maw={420} size="xs" style={{ whiteSpace: "normal" }}>
      <Badge color="orange" size="sm" tt="uppercase">{t`superseded`}</Badge> {because}
    </Text>
  );
}

function NoSample({ run }: { run: RunDetail }) {
  const words = {
    waiting: t`The run has not started.`,
    active: t`Results appear when the run has finished.`,
    finished: t`The run finished without a result.`,
    failed: t`The run failed before it measured anything.`,
    cancelled: t`The run was cancelled before it measured anything.`,
  };
  return <Text c="dimmed">{words[run.state]}</Text>;
}
