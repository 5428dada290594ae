import { t } from "@lingui/core/macro";
import { cautionsOf } from "@/components/flagWords";
import { Hint } from "@/components/looks";
import type { Layout, Measure } from "./choice";
import { isPublished } from "./ratios";

interface FigureCaptionProps {
  readonly measure: Measure;
  readonly layout: Layout;
  readonly undrawn: number;
  readonly isCut: boolean;
}

/** Describes the marks of a figure, and counts what it leaves out. */
export function FigureCaption({
  measure: { title, description },
  layout,
  undrawn,
  isCut,
}: FigureCaptionProps) {
  const counts = layout.rows.map(({ measured }) => measured.n);
  const [fewest, most] = [Math.min(...counts), Math.max(...counts)];
  const runs = most === 1 ? "1 run" : `${fewest === most ? most : t`${fewest} to ${most}`} runs`;
  const pins = Object.values(layout.pins).join(", ");
  return (
    <Hint>
      {description && `${title}: ${description}${/[.!?]$/.test(description) ? "" : "."} `}
      {describeMarks(layout, runs)} {pins && t`Filter: ${pins}.`}{" "}
      {undrawn > 0 && t`${undrawn} more do not fit. Select what to draw. `}
      {isCut && t`The campaign has more configurations than the figure can show.`}
    </Hint>
  );
}

function describeMarks({ kind, axes, rows }: Layout, runs: string): string {
  if (rows.every(isPublished)) return t`Values are shown as printed, without intervals.`;
  const printed = rows.some(isPublished) ? t` Published values are shown as printed.` : "";
  return describeRuns({ kind, axes, rows }, runs) + printed;
}

function describeRuns({ kind, axes, rows }: Pick<Layout, "kind" | "axes" | "rows">, runs: string): string {
  const hollow = rows.some(({ measured }) => cautionsOf(measured.flags).length > 0)
    ? t` Hollow points have a caution.`
    : "";
  if (kind === "map") return t`Each cell is the median of ${runs}.`;
  if (kind === "ratio")
    return t`Each cell is a ratio of medians of ${runs}, without an interval. Single runs give no ratio.`;
  if (kind === "scaling")
    return t`Each point is a run; lines are medians of ${runs}. Dashed: the smallest configuration's value for each further task.${hollow}`;
  if (kind === "parts") return t`Bars are medians of ${runs} for each part; points are single runs.`;
  if (axes[0] === "run") return t`Each point is a run.${hollow}`;
  return t`Each point is a run; bars and lines are medians of ${runs}.${hollow}`;
}
