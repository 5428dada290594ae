/** Status of a node or target by its trends: regressions with size and start, then the other series. */

import { t } from "@lingui/core/macro";
import { Text } from "@mantine/core";
import { TextLink } from "@/components/links";
import { useTitlesOf } from "@/components/optionTitles";
import { describeValues } from "@/lib/options";
import { type Regression, subjectStatus } from "./subject";
import type { Subject } from "./subjectQueries";
import { useAnalyses, useSubject } from "./useSubject";

interface SubjectStatusProps {
  readonly subject: Subject;
  readonly clusterId: number;
}

/** Renders nothing until the analyses are loaded, and for a node or target without series. */
export function SubjectStatus({ subject, clusterId }: SubjectStatusProps) {
  const { drawn, points } = useSubject(subject);
  const analyses = useAnalyses(drawn);
  if (drawn.length === 0 || analyses.size < drawn.length) return null;
  const { regressions, more, others } = subjectStatus(drawn, analyses, points.data ?? []);
  return (
    <>
      {regressions.map((one) => (
        <RegressionLink clusterId={clusterId} key={one.series.id} regression={one} />
      ))}
      {more > 0 && <span>{t`${more} more series are worse`}</span>}
      {(regressions.length > 0 ? [] : others.slice(0, 1)).map((words) => (
        <span key={words}>{words}</span>
      ))}
      {(regressions.length > 0 ? others : others.slice(1)).map((words) => (
        <Text c="dimmed" inherit key={words} span>
          {words}
        </Text>
      ))}
    </>
  );
}

function RegressionLink({ regression, clusterId }: { regression: Regression; clusterId: number }) {
  const { series, words } = regression;
  const titleOf = useTitlesOf()(series.workload, clusterId);
  const { operation, ...labels } = series.labels;
  return (
    <TextLink
      c="var(--mantine-color-error)"
      fw={600}
      params={{ clusterId }}
      search={{ workload: series.workload, metric: series.metric, series: [series.id] }}
      title={describeValues({ ...series.options, ...labels }, titleOf)}
      to="/clusters/$clusterId/trend"
      underline="always"
    >
      {[series.workload, operation, words].filter(Boolean).join(" ")}
    </TextLink>
  );
}
