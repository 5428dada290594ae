/** Figures of a report: the most informative ones of each workload, with their runs. */

import { t } from "@lingui/core/macro";
import { Trans } from "@lingui/react/macro";
import { useQuery } from "@tanstack/react-query";
import { useMemo } from "react";
import type { CampaignMeasures, MeasuredCell } from "@/api/types";
import { useTitlesOf } from "@/components/optionTitles";
import { Loaded } from "@/components/Page";
import { RunLinks } from "@/components/RunLinks";
import { Still } from "@/plots/Still";
import { chooseLayout, chooseMeasures, type Measure } from "../figure/choice";
import { drawPanels } from "../figure/panels";
import { rowsOf, runOrder } from "../figure/rows";
import { measurementsQuery, measuresQuery } from "../queries";

/** Two fit next to each other. */
const WIDTH_PX = 440;
const HEIGHT_PX = 280;
/** Beyond, runs are shown as spans. */
const MOST_LINKS = 4;

export function ReportFigures({ campaignId }: { campaignId: number }) {
  const measures = useQuery(measuresQuery(campaignId));
  return (
    <Loaded
      empty={<p>{t`No results to draw.`}</p>}
      isEmpty={({ metrics }) => metrics.length === 0}
      query={measures}
    >
      {(found) => (
        <div className="figures">
          {[...new Set(found.metrics.map(({ workload }) => workload))].map((workload) => (
            <WorkloadFigures campaignId={campaignId} key={workload} measures={found} workload={workload} />
          ))}
        </div>
      )}
    </Loaded>
  );
}

interface WorkloadFiguresProps {
  readonly campaignId: number;
  readonly workload: string;
  readonly measures: CampaignMeasures;
}

function WorkloadFigures({ campaignId, workload, measures }: WorkloadFiguresProps) {
  const { shown, beside } = chooseMeasures(measures, workload, {});
  return [shown, beside].map(
    (measure) =>
      measure && (
        <MeasurePictures campaignId={campaignId} key={measure.key} measure={measure} workload={workload} />
      ),
  );
}

interface MeasurePicturesProps extends Omit<WorkloadFiguresProps, "measures"> {
  readonly measure: Measure;
}

function MeasurePictures({ campaignId, workload, measure }: MeasurePicturesProps) {
  const query = useQuery(measurementsQuery(campaignId, { ...measure.query, workload }));
  return (
    <Loaded
      empty={<p>{t`No valid run has measured ${measure.title}.`}</p>}
      isEmpty={({ items }) => items.every(({ measurements }) => measurements.length === 0)}
      query={query}
    >
      {({ items }) => <Pictures cells={items} measure={measure} workload={workload} />}
    </Loaded>
  );
}

interface PicturesProps {
  readonly cells: readonly MeasuredCell[];
  readonly measure: Measure;
  readonly workload: string;
}

function Pictures({ cells, measure, workload }: PicturesProps) {
  const titlesOf = useTitlesOf();
  const name = `${workload}: ${measure.title}`;
  const { panels, runIds, undrawn } = useMemo(() => {
    const layout = chooseLayout(rowsOf(cells), {}, measure.unit);
    const look = { measure, titleOf: titlesOf(workload), order: runOrder(cells), scheme: "light" as const };
    const drawn = layout.rows.flatMap(({ measured }) => measured.run_ids);
    return { ...drawPanels(layout, look), runIds: [...new Set(drawn)].sort((a, b) => a - b) };
  }, [cells, measure, workload, titlesOf]);
  return (
    <>
      {panels.map(({ title, figure }) => (
        <div className="figure" key={title}>
          <h3>{[name, title].filter(Boolean).join(", ")}</h3>
          <Still
            figure={figure}
            height={HEIGHT_PX}
            label={[workload, measure.title, title].filter(Boolean).join(", ")}
            width={WIDTH_PX}
          />
        </div>
      ))}
      <p className="quiet note">
        <Trans>
          {name}: {measure.description && `${asSentence(measure.description)} `}
          {undrawn > 0 && t`${undrawn} more do not fit. `} Runs drawn:{" "}
          <RunLinks ids={runIds} mostLinks={MOST_LINKS} />.
        </Trans>
      </p>
    </>
  );
}

function asSentence(phrase: string): string {
  return /[.!?]$/.test(phrase) ? phrase : `${phrase}.`;
}
