/** What stands below a figure: what its marks mean, what is not drawn, and who has nothing in it. */

import { t } from "@lingui/core/macro";
import { Trans } from "@lingui/react/macro";
import { Text } from "@mantine/core";
import type { Campaign, MeasuredCell } from "@/api/types";
import type { Layout, Measure } from "./choice";
import { isPublished } from "./ratios";

/** A campaign as far as a figure names it. */
export type FigureCampaign = Pick<Campaign, "id" | "name" | "cluster_name">;

/** Cells are undefined until they are there. */
export interface LaidBeside {
  readonly campaign: FigureCampaign;
  readonly cells: readonly MeasuredCell[] | undefined;
}

interface LackingProps {
  readonly sides: readonly LaidBeside[];
  readonly measure: Measure;
  readonly workload: string;
}

/** Says which campaigns stand in the figure with nothing. */
export function Lacking({ sides, measure, workload }: LackingProps) {
  const lacking = sides.filter(({ cells }) => cells?.every(({ measurements }) => measurements.length === 0));
  return lacking.map(({ campaign }) => (
    <Text key={campaign.id} size="sm">
      <Trans>
        {campaign.name} of {campaign.cluster_name} has no {measure.title} by {workload}, so nothing of it is
        drawn.
      </Trans>
    </Text>
  ));
}

interface CaptionProps {
  readonly measure: Measure;
  readonly layout: Layout;
  readonly undrawn: number;
  readonly isCut: boolean;
}

export function Caption({ measure: { title, description }, layout, undrawn, isCut }: CaptionProps) {
  const counts = layout.rows.map(({ measured }) => measured.n);
  const [fewest, most] = [Math.min(...counts), Math.max(...counts)];
  const runs = most === 1 ? "1 run" : `${fewest === most ? most : t`${fewest} to ${most}`} runs`;
  const pins = Object.values(layout.pins).join(", ");
  return (
    <Text c="dimmed" size="sm">
      {description && `${title}: ${description}${/[.!?]$/.test(description) ? "" : "."} `}
      {describeMarks(layout, runs)} {pins && t`Drawn: ${pins}.`}{" "}
      {undrawn > 0 && t`${undrawn} more do not fit: choose what is drawn. `}
      {isCut && t`The campaign has more cells than a figure holds.`}
    </Text>
  );
}

function describeMarks({ kind, axes, rows }: Layout, runs: string): string {
  if (rows.every(isPublished)) return t`Each number is as it was printed, without an interval.`;
  const printed = rows.some(isPublished) ? t` Of what is published each dot is a number as printed.` : "";
  return describeRuns({ kind, axes, rows }, runs) + printed;
}

function describeRuns({ kind, axes, rows }: Pick<Layout, "kind" | "axes" | "rows">, runs: string): string {
  const hollow = rows.some(({ measured }) => measured.flags.length > 0)
    ? t` A hollow dot carries a flag.`
    : "";
  if (kind === "map") return t`Each field is the median of ${runs}.`;
  if (kind === "ratio")
    return t`Each field is a ratio of medians of ${runs}, without an interval; where one run stands alone, none is drawn.`;
  if (kind === "parts") return t`Bars are medians of ${runs}, each part for itself; dots are the runs.`;
  if (axes[0] === "run") return t`Each dot is a run.${hollow}`;
  return t`Each dot is a run; bars and lines are at medians of ${runs}.${hollow}`;
}
