/** Figure of a campaign, by the address or else the most informative one. */

import { t } from "@lingui/core/macro";
import { Trans } from "@lingui/react/macro";
import { Group, Stack, Text } from "@mantine/core";
import { useQueries, useQuery } from "@tanstack/react-query";
import { useMemo } from "react";
import type { Campaign, CampaignMeasures, MeasuredCell } from "@/api/types";
import { useTitlesOf } from "@/components/optionTitles";
import { Loaded, Section } from "@/components/Page";
import { useScheme } from "@/components/preferences";
import type { TitleOf } from "@/lib/options";
import { Plot } from "@/plots/Plot";
import { measurementsQuery, measuresQuery } from "../queries";
import { chooseLayout, chooseMeasures, type FigureView, type Layout, type Measure } from "./choice";
import { FigureCaption } from "./FigureCaption";
import { FigurePickers, SeedButtons } from "./FigurePickers";
import { FigureTable, runsTable } from "./FigureTable";
import { drawPanels } from "./panels";
import { dimensionsOf, type FigureRow, type RunOrder, rowsOf, runOrder } from "./rows";
import { mergeSides } from "./sides";

interface FigureSectionProps {
  readonly campaign: FigureCampaign;
  /** Campaigns drawn into the same figure if they measured the same. */
  readonly beside?: readonly FigureCampaign[];
  readonly view: FigureView;
  readonly onView: (view: FigureView) => void;
}

const ALONE: readonly FigureCampaign[] = [];

export function FigureSection({ campaign, beside = ALONE, view, onView }: FigureSectionProps) {
  const measures = useQuery(measuresQuery(campaign.id));
  const campaigns = useMemo(() => [campaign, ...beside], [campaign, beside]);
  return (
    <Section title={t`Figure`}>
      <Loaded
        empty={t`No results to draw yet.`}
        isEmpty={({ metrics }) => metrics.length === 0}
        lines={8}
        query={measures}
      >
        {(found) => <ChosenFigure campaigns={campaigns} measures={found} onView={onView} view={view} />}
      </Loaded>
    </Section>
  );
}

interface ChosenFigureProps {
  readonly campaigns: readonly FigureCampaign[];
  readonly measures: CampaignMeasures;
  readonly view: FigureView;
  readonly onView: (view: FigureView) => void;
}

function ChosenFigure({ campaigns, measures, view, onView }: ChosenFigureProps) {
  const workloads = [...new Set(measures.metrics.map(({ workload }) => workload))];
  const workload = workloads.find((name) => name === view.workload) ?? workloads[0] ?? "";
  const { all, shown, beside } = chooseMeasures(measures, workload, view);
  if (!shown) return null;
  const drawn = [shown, ...(beside ? [beside] : [])];
  return (
    <Stack>
      {drawn.map((measure, place) => (
        <MeasureFigure
          campaigns={campaigns}
          key={measure.key}
          measure={measure}
          renderPickers={
            place > 0
              ? undefined
              : (layout) => (
                  <>
                    <SeedButtons
                      measures={measures}
                      onView={onView}
                      rows={layout.all}
                      view={view}
                      workload={workload}
                    />
                    <FigurePickers
                      beside={beside}
                      layout={layout}
                      measures={all}
                      onView={onView}
                      shown={shown}
                      view={view}
                      workload={workload}
                      workloads={workloads}
                    />
                  </>
                )
          }
          view={view}
          workload={workload}
        />
      ))}
    </Stack>
  );
}

interface MeasureFigureProps {
  readonly campaigns: readonly FigureCampaign[];
  readonly measure: Measure;
  readonly workload: string;
  readonly view: FigureView;
  readonly renderPickers: ((layout: Layout) => React.ReactNode) | undefined;
}

function MeasureFigure({ campaigns, measure, workload, view, renderPickers }: MeasureFigureProps) {
  const query = useQuery(measurementsQuery(campaigns[0]?.id ?? 0, { ...measure.query, workload }));
  const others = useQueries({
    queries: campaigns.slice(1).map(({ id }) => measurementsQuery(id, { ...measure.query, workload })),
    combine: dataOf,
  });
  const sides = useMemo(
    () => campaigns.slice(1).map((campaign, place) => ({ campaign, cells: others[place]?.items })),
    [campaigns, others],
  );
  return (
    <Loaded
      empty={t`No valid run has measured ${measure.title}.`}
      isEmpty={({ items }) => items.every(({ measurements }) => measurements.length === 0)}
      lines={8}
      query={query}
    >
      {({ items, next_cursor }) => (
        <Drawn
          cells={items}
          isCut={next_cursor !== null || others.some((data) => data?.next_cursor)}
          sides={sides}
          measure={measure}
          renderPickers={renderPickers}
          view={view}
          workload={workload}
        />
      )}
    </Loaded>
  );
}

/** Stable for unchanged answers, as `combine` of useQueries requires. */
function dataOf<Data>(results: readonly { readonly data: Data | undefined }[]): (Data | undefined)[] {
  return results.map(({ data }) => data);
}

interface DrawnProps extends Pick<MeasureFigureProps, "measure" | "workload" | "view" | "renderPickers"> {
  readonly cells: readonly MeasuredCell[];
  readonly sides: readonly OtherCampaign[];
  readonly isCut: boolean;
}

function Drawn({ cells, sides, isCut, measure, workload, view, renderPickers }: DrawnProps) {
  const scheme = useScheme();
  const titlesOf = useTitlesOf();
  const titleOf = useMemo(() => titlesOf(workload), [titlesOf, workload]);
  const rows = useRows(cells, sides, titleOf);
  const order: RunOrder = useMemo(
    () => runOrder([...cells, ...sides.flatMap((side) => side.cells ?? [])]),
    [cells, sides],
  );
  const layout = useMemo(() => chooseLayout(rows, view, measure.unit), [rows, view, measure.unit]);
  const { panels, undrawn } = useMemo(
    () => drawPanels(layout, { measure, titleOf, order, scheme }),
    [layout, measure, titleOf, order, scheme],
  );
  return (
    <Stack gap="xs">
      <Group gap="xs">
        {renderPickers?.(layout)}
        <FigureTable
          dimensions={dimensionsOf(layout.rows)}
          layout={layout}
          measure={measure}
          titleOf={titleOf}
        />
      </Group>
      <div className="iotide-panels">
        {panels.map(({ title, figure }) => (
          <div key={title}>
            {title && (
              <Text className="iotide-figure-title" fw={600} size="sm" ta="center">
                {title}
              </Text>
            )}
            <Plot
              exported={{ table: () => runsTable(layout.rows, dimensionsOf(layout.rows), measure) }}
              figure={figure}
              height={panels.length === 1 ? 320 : 240}
              label={[measure.title, title].filter(Boolean).join(", ")}
              viewKey={`${measure.key} ${layout.kind} ${layout.axes} ${title}`}
            />
          </div>
        ))}
      </div>
      <WithoutValues measure={measure} sides={sides} workload={workload} />
      <FigureCaption isCut={isCut} layout={layout} measure={measure} undrawn={undrawn} />
    </Stack>
  );
}

function useRows(
  cells: readonly MeasuredCell[],
  sides: readonly OtherCampaign[],
  titleOf: TitleOf,
): FigureRow[] {
  return useMemo(
    () =>
      sides.length === 0
        ? rowsOf(cells)
        : mergeSides(
            [
              { name: "", rows: rowsOf(cells) },
              ...sides.map((side) => ({ name: side.campaign.cluster_name, rows: rowsOf(side.cells ?? []) })),
            ],
            titleOf,
          ),
    [cells, sides, titleOf],
  );
}

type FigureCampaign = Pick<Campaign, "id" | "name" | "cluster_name">;

/** Cells are undefined until loaded. */
interface OtherCampaign {
  readonly campaign: FigureCampaign;
  readonly cells: readonly MeasuredCell[] | undefined;
}

interface LackingProps {
  readonly sides: readonly OtherCampaign[];
  readonly measure: Measure;
  readonly workload: string;
}

/** Names the campaigns without values in the figure. */
function WithoutValues({ sides, measure, workload }: LackingProps) {
  const lacking = sides.filter(({ cells }) => cells?.every(({ measurements }) => measurements.length === 0));
  return lacking.map(({ campaign }) => (
    <Text key={campaign.id} size="sm">
      <Trans>
        {campaign.name} of {campaign.cluster_name} has no {measure.title} for {workload} and is not drawn.
      </Trans>
    </Text>
  ));
}
