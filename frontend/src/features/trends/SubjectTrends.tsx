/** The trends of a node or target: one small chart for each workload, over the last 90 days. */

import { t } from "@lingui/core/macro";
import { Box, Text } from "@mantine/core";
import { useMemo } from "react";
import type { Points } from "@/api/types";
import { TextLink } from "@/components/links";
import { Hint } from "@/components/looks";
import { useTitlesOf } from "@/components/optionTitles";
import { Loaded, Section } from "@/components/Page";
import { useScheme } from "@/components/preferences";
import { formatDay } from "@/lib/time";
import { axisScale } from "@/plots/figure";
import { Plot } from "@/plots/Plot";
import { smallTrendFigure } from "@/plots/smallTrend";
import { pointsTable } from "./exports";
import { LineNames } from "./LineNames";
import { nameSeries } from "./names";
import { panelScales } from "./panels";
import { SUBJECT_DAYS, type SubjectPanel } from "./subject";
import type { Subject } from "./subjectQueries";
import { useSubject } from "./useSubject";

const CHART_PIXELS = 190;
const NO_RANGE = [0, 1] as const;

interface SubjectTrendsProps {
  readonly subject: Subject;
  readonly clusterId: number;
}

export function SubjectTrends({ subject, clusterId }: SubjectTrendsProps) {
  const { series, found, points, since, now } = useSubject(subject);
  const names = [
    ...found.old.map(({ workload, lastAt }) => t`${workload} (last point ${formatDay(lastAt)})`),
  ];
  return (
    <Section title={t`Trend by workload, last ${SUBJECT_DAYS} days`}>
      <Loaded
        empty={t`No points yet. A trend starts with the first finished run.`}
        isEmpty={() => found.panels.length === 0 && found.old.length === 0}
        lines={6}
        query={series}
      >
        {() => (
          <>
            {found.panels.length > 0 && (
              <Loaded lines={6} query={points}>
                {(all) => (
                  <Box className="iotide-panels">
                    {found.panels.map((panel) => (
                      <Panel
                        clusterId={clusterId}
                        key={`${panel.workload} ${panel.title}`}
                        now={now}
                        panel={panel}
                        points={all}
                        since={since}
                      />
                    ))}
                  </Box>
                )}
              </Loaded>
            )}
            {names.length > 0 && <Hint>{t`No points in this period: ${names.join(", ")}.`}</Hint>}
            {found.hidden.length > 0 && <Hint>{t`Not drawn: ${found.hidden.join(", ")}.`}</Hint>}
          </>
        )}
      </Loaded>
    </Section>
  );
}

interface PanelProps {
  readonly panel: SubjectPanel;
  readonly clusterId: number;
  readonly points: readonly Points[];
  readonly since: number;
  readonly now: number;
}

function Panel({ panel, clusterId, points, since, now }: PanelProps) {
  const { workload, title, series, leftOut } = panel;
  const scheme = useScheme();
  const titlesOf = useTitlesOf();
  const names = useMemo(
    () => nameSeries(series, titlesOf(workload, clusterId)),
    [series, titlesOf, workload, clusterId],
  );
  const own = series.flatMap(({ id }) => points.filter((one) => one.series.id === id));
  const lines = own.map((one) => ({ name: names.get(one.series.id) ?? "", points: one }));
  const range = panelScales([own], true)[0]?.range ?? NO_RANGE;
  const figure = smallTrendFigure(
    lines.map(({ name, points: { at, median, gaps } }) => ({ name, at, median, gaps })),
    {
      ...{ metricTitle: title, range, scheme, end: now },
      scale: axisScale(series[0]?.unit ?? "count", range),
      span: { from: new Date(since).toISOString(), to: new Date(now).toISOString() },
    },
  );
  const link = { workload, metric: series[0]?.metric, series: series.map(({ id }) => id) };
  return (
    <div>
      <Text fw={600} size="sm">
        <TextLink params={{ clusterId }} search={link} to="/clusters/$clusterId/trend" underline="always">
          {workload}: {title}
        </TextLink>
        {leftOut > 0 && t` · ${series.length} of ${series.length + leftOut} series`}
      </Text>
      <Plot
        exported={{ table: () => pointsTable(lines) }}
        figure={figure}
        height={CHART_PIXELS}
        label={t`${title} of ${workload}, last ${SUBJECT_DAYS} days`}
        viewKey={`${workload} ${title}`}
      />
      <LineNames names={lines.map(({ name }) => name)} />
    </div>
  );
}
