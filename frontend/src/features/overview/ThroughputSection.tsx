/** One metric of all clusters over time. */

import { t } from "@lingui/core/macro";
import { Group, NativeSelect, Text } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { useMemo } from "react";
import type { Throughput, ThroughputMeasure } from "@/api/types";
import { Hint } from "@/components/looks";
import { Loaded, Section } from "@/components/Page";
import { useScheme } from "@/components/preferences";
import { Plot } from "@/plots/Plot";
import { throughputFigure } from "@/plots/throughput";
import { type ThroughputChoice, throughputQuery } from "./queries";

const PLOT_PIXELS = 280;

interface ThroughputSectionProps {
  readonly days: number;
  readonly choice: ThroughputChoice;
  readonly onChoice: (choice: ThroughputChoice) => void;
}

/** Hidden if nothing was measured. */
export function ThroughputSection({ days, choice, onChoice }: ThroughputSectionProps) {
  const found = useQuery(throughputQuery(days, choice));
  if (found.data && !found.data.drawn) return null;
  return (
    <Section
      actions={found.data && <Choices choice={choice} found={found.data} onChoice={onChoice} />}
      title={t`Throughput over time`}
    >
      <Loaded lines={8} query={found}>
        {(shown) => <ClustersPlot choice={choice} found={shown} />}
      </Loaded>
    </Section>
  );
}

interface ChoicesProps {
  readonly found: Throughput;
  readonly choice: ThroughputChoice;
  readonly onChoice: (choice: ThroughputChoice) => void;
}

function Choices({ found: { drawn, measures, target_kinds: kinds }, choice, onChoice }: ChoicesProps) {
  const workloads = [...new Set(measures.map(({ workload }) => workload))].sort();
  const metrics = measures.filter(({ workload }) => workload === drawn?.workload);
  function chooseMetric(place: string): void {
    const chosen = metrics[Number(place)];
    if (chosen) onChoice({ ...choice, ...choiceOf(chosen) });
  }
  return (
    <Group gap="xs">
      <NativeSelect
        aria-label={t`Workload`}
        data={workloads}
        onChange={({ currentTarget: { value } }) => onChoice({ workload: value, kind: choice.kind })}
        size="xs"
        value={drawn?.workload}
      />
      <NativeSelect
        aria-label={t`Metric`}
        data={metrics.map((measure, place) => ({ value: String(place), label: nameOf(measure) }))}
        onChange={({ currentTarget: { value } }) => chooseMetric(value)}
        size="xs"
        value={String(metrics.findIndex((one) => drawn && nameOf(one) === nameOf(drawn)))}
      />
      <NativeSelect
        aria-label={t`Target kind`}
        data={[{ value: "", label: t`All file systems` }, ...kinds]}
        onChange={({ currentTarget: { value } }) => onChoice({ ...choice, kind: value || undefined })}
        size="xs"
        value={choice.kind ?? ""}
      />
    </Group>
  );
}

function choiceOf({ workload, metric, operation }: ThroughputMeasure): ThroughputChoice {
  return { workload, metric, operation };
}

/** Return `Throughput, write`. */
function nameOf({ title, operation }: ThroughputMeasure): string {
  return operation ? `${title}, ${operation}` : title;
}

function ClustersPlot({ found, choice }: { found: Throughput; choice: ThroughputChoice }) {
  const scheme = useScheme();
  const { drawn, clusters, clusters_left_out, series_left_out } = found;
  const figure = useMemo(
    () => drawn && throughputFigure(clusters, { metricTitle: nameOf(drawn), unit: drawn.unit, scheme }),
    [drawn, clusters, scheme],
  );
  if (!drawn || !figure) return null;
  if (clusters.length === 0) return <Text c="dimmed">{t`Not measured in this period.`}</Text>;
  return (
    <>
      <Plot
        figure={figure}
        height={PLOT_PIXELS}
        label={t`${drawn.workload}: ${nameOf(drawn)} of all clusters`}
        viewKey={[drawn.workload, nameOf(drawn), choice.kind].join(" ")}
      />
      <Hint>
        {t`Median of a day over the series of a cluster. Each series counts relative to its own median, so a day with fewer series makes no step.`}
        {clusters_left_out > 0 && ` ${t`${clusters_left_out} clusters are not drawn.`}`}
        {series_left_out > 0 && ` ${t`${series_left_out} older series are not included.`}`}
      </Hint>
    </>
  );
}
