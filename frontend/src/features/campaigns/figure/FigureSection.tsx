/** The figure of a campaign: what it measured, drawn in the way that tells most, or as the address says. */

import { Stack, Text } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { useMemo } from "react";
import type { Campaign, CampaignMeasures, MeasuredCell } from "@/api/types";
import { Loaded } from "@/components/Loaded";
import { useTitlesOf } from "@/components/optionTitles";
import { Section } from "@/components/Page";
import { useScheme } from "@/components/scheme";
import { Plot } from "@/plots/Plot";
import { measurementsQuery, measuresQuery } from "../queries";
import { chooseLayout, chooseMeasures, type FigureView, type Layout, type Measure } from "./choice";
import { FigurePickers } from "./FigurePickers";
import { FigureTable } from "./FigureTable";
import { drawPanels } from "./panels";
import { dimensionsOf, type RunOrder, rowsOf, runOrder } from "./rows";

interface FigureSectionProps {
  readonly campaign: Campaign;
  readonly view: FigureView;
  readonly onView: (view: FigureView) => void;
}

export function FigureSection({ campaign, view, onView }: FigureSectionProps) {
  const measures = useQuery(measuresQuery(campaign.id));
  return (
    <Section title="Figure">
      <Loaded
        empty={<Text c="dimmed">Nothing to draw yet.</Text>}
        isEmpty={({ metrics }) => metrics.length === 0}
        lines={8}
        query={measures}
      >
        {(found) => <ChosenFigure campaignId={campaign.id} measures={found} onView={onView} view={view} />}
      </Loaded>
    </Section>
  );
}

interface ChosenFigureProps {
  readonly campaignId: number;
  readonly measures: CampaignMeasures;
  readonly view: FigureView;
  readonly onView: (view: FigureView) => void;
}

function ChosenFigure({ campaignId, measures, view, onView }: ChosenFigureProps) {
  const workloads = [...new Set(measures.metrics.map(({ workload }) => workload))];
  const workload = workloads.find((name) => name === view.workload) ?? workloads[0] ?? "";
  const { all, shown, beside } = chooseMeasures(measures, workload, view);
  if (!shown) return null;
  const drawn = [shown, ...(beside ? [beside] : [])];
  return (
    <Stack>
      {drawn.map((measure, place) => (
        <MeasureFigure
          campaignId={campaignId}
          key={measure.key}
          measure={measure}
          renderPickers={
            place > 0
              ? undefined
              : (layout) => (
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
  readonly campaignId: number;
  readonly measure: Measure;
  readonly workload: string;
  readonly view: FigureView;
  readonly renderPickers: ((layout: Layout) => React.ReactNode) | undefined;
}

function MeasureFigure({ campaignId, measure, workload, view, renderPickers }: MeasureFigureProps) {
  const query = useQuery(measurementsQuery(campaignId, { ...measure.query, workload }));
  return (
    <Loaded
      empty={<Text c="dimmed">No valid run has measured {measure.title}.</Text>}
      isEmpty={({ items }) => items.every(({ measurements }) => measurements.length === 0)}
      lines={8}
      query={query}
    >
      {({ items, next_cursor }) => (
        <Drawn
          cells={items}
          isCut={next_cursor !== null}
          measure={measure}
          renderPickers={renderPickers}
          view={view}
          workload={workload}
        />
      )}
    </Loaded>
  );
}

interface DrawnProps extends Pick<MeasureFigureProps, "measure" | "workload" | "view" | "renderPickers"> {
  readonly cells: readonly MeasuredCell[];
  readonly isCut: boolean;
}

function Drawn({ cells, isCut, measure, workload, view, renderPickers }: DrawnProps) {
  const scheme = useScheme();
  const titlesOf = useTitlesOf();
  const titleOf = useMemo(() => titlesOf(workload), [titlesOf, workload]);
  const rows = useMemo(() => rowsOf(cells), [cells]);
  const order: RunOrder = useMemo(() => runOrder(cells), [cells]);
  const layout = useMemo(() => chooseLayout(rows, view), [rows, view]);
  const { panels, undrawn } = useMemo(
    () => drawPanels(layout, { measure, titleOf, order, scheme }),
    [layout, measure, titleOf, order, scheme],
  );
  return (
    <Stack gap="xs">
      {renderPickers?.(layout)}
      <div className="iotide-panels">
        {panels.map(({ title, figure }) => (
          <div key={title}>
            {title && (
              <Text fw={600} size="sm" ta="center">
                {title}
              </Text>
            )}
            <Plot
              figure={figure}
              height={panels.length === 1 ? 400 : 340}
              label={[measure.title, title].filter(Boolean).join(", ")}
              viewKey={`${measure.key} ${layout.kind} ${layout.axes} ${title}`}
            />
          </div>
        ))}
      </div>
      <Caption isCut={isCut} layout={layout} measure={measure} undrawn={undrawn} />
      <FigureTable
        dimensions={dimensionsOf(layout.rows)}
        layout={layout}
        measure={measure}
        titleOf={titleOf}
      />
    </Stack>
  );
}

interface CaptionProps {
  readonly measure: Measure;
  readonly layout: Layout;
  readonly undrawn: number;
  readonly isCut: boolean;
}

function Caption({ measure: { title, description }, layout, undrawn, isCut }: CaptionProps) {
  const counts = layout.rows.map(({ measured }) => measured.n);
  const [fewest, most] = [Math.min(...counts), Math.max(...counts)];
  const runs = most === 1 ? "1 run" : `${fewest === most ? most : `${fewest} to ${most}`} runs`;
  const pins = Object.values(layout.pins).join(", ");
  return (
    <Text c="dimmed" size="sm">
      {description && `${title}: ${description}${/[.!?]$/.test(description) ? "" : "."} `}
      {describeMarks(layout, runs)} {pins && `Drawn: ${pins}.`}{" "}
      {undrawn > 0 && `${undrawn} more do not fit: choose what is drawn. `}
      {isCut && "The campaign has more cells than a figure holds."}
    </Text>
  );
}

function describeMarks({ kind, axes, rows }: Layout, runs: string): string {
  const hollow = rows.some(({ measured }) => measured.flags.length > 0)
    ? " A hollow dot carries a flag."
    : "";
  if (kind === "map") return `Each field is the median of ${runs}.`;
  if (kind === "ratio")
    return `Each field is a ratio of medians of ${runs}, without an interval; where one run stands alone, none is drawn.`;
  if (kind === "parts") return `Bars are medians of ${runs}, each part for itself; dots are the runs.`;
  if (axes[0] === "run") return `Each dot is a run.${hollow}`;
  return `Each dot is a run; bars and lines are at medians of ${runs}.${hollow}`;
}
