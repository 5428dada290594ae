/** A value of a pivot table: the median with its spread and bar, and what sets it apart from the others. */

import { t } from "@lingui/core/macro";
import { Trans } from "@lingui/react/macro";
import { Badge, Group } from "@mantine/core";
import type { CellResult } from "@/api/types";
import { cautionsOf } from "@/components/flagWords";
import { TextLink } from "@/components/links";
import { Detail, RowButton } from "@/components/looks";
import { Quantity } from "@/components/values";
import { formatSpread, formatValue } from "@/lib/units";
import { STACKED } from "./figure/choice";
import type { PivotValue } from "./pivot";
import { type NoteLetters, notesOfValue } from "./pivotNotes";
import { ENOUGH_RUNS } from "./results";

export interface CellContext {
  readonly clusterId: number;
  /** Opens the form to add repeats; undefined hides its button. */
  readonly onRepeats?: ((cellId: number) => void) | undefined;
  /** All values have too few runs, as the answer says. */
  readonly isFewStated: boolean;
  /** Cautions and notes already shown above the tables. */
  readonly shownElsewhere: readonly string[];
}

interface PivotCellProps extends CellContext {
  readonly value: PivotValue;
  /** Row and column. */
  readonly name: string;
  readonly letters: NoteLetters;
  /** Value that fills the bar. */
  readonly largest: number;
}

export function PivotCell({
  value,
  name,
  letters,
  largest,
  clusterId,
  onRepeats,
  isFewStated,
  shownElsewhere,
}: PivotCellProps) {
  const { cell, result } = value;
  const { metric, series_id, median, low, high, unit, n } = result;
  return (
    <div>
      <Group gap={6} title={runsInWords(result)} wrap="nowrap">
        <span className={lookOf(result.flags, shownElsewhere)}>
          <TextLink
            c="inherit"
            params={{ clusterId }}
            search={{ workload: cell.workload, metric, series: [series_id], cell: cell.id }}
            to="/clusters/$clusterId/trend"
          >
            <Quantity unit={unit} value={median} />
          </TextLink>
        </span>
        {result.variation_ratio !== null && (
          <Detail className="iotide-number" component="span">
            {formatSpread(result.variation_ratio)}
          </Detail>
        )}
        <Notes letters={letters} notes={notesOfValue(result, shownElsewhere)} />
        {n < ENOUGH_RUNS && !isFewStated && (
          <FewRuns n={n} name={name} onAdd={onRepeats && (() => onRepeats(cell.id))} />
        )}
      </Group>
      {n > 1 && n < ENOUGH_RUNS && (
        <Detail>
          <Trans>
            <Quantity unit={unit} value={low} /> to <Quantity unit={unit} value={high} />
          </Trans>
        </Detail>
      )}
      <Bar largest={largest} value={value} />
      {cell.adaptive?.series_id === series_id && <Detail>{cell.adaptive.words}</Detail>}
    </div>
  );
}

function Notes({ notes, letters }: { notes: readonly string[]; letters: NoteLetters }) {
  if (notes.length === 0) return null;
  return <sup title={notes.join(", ")}>{notes.map((note) => letters.get(note)).join(", ")}</sup>;
}

/** Bold without any caution, grey with one that other values lack. */
function lookOf(flags: readonly string[], shownElsewhere: readonly string[]): string {
  const cautions = cautionsOf(flags);
  if (cautions.length === 0) return "iotide-strong";
  return cautions.every((word) => shownElsewhere.includes(word)) ? "" : "iotide-cautioned";
}

function runsInWords(result: CellResult): string {
  const { n, low, high, unit, variation, variation_ratio: ratio, robust_spread_ratio: robust } = result;
  if (n === 1) return t`one run, without a spread`;
  const range = t`median of ${n} runs, ${formatValue(low, unit)} to ${formatValue(high, unit)}`;
  if (n < ENOUGH_RUNS) return t`${range}; no interval with fewer than four runs`;
  if (ratio === null) return t`${range}; too short for the clock to show a spread`;
  const robustly = robust === null ? "" : t`; from median deviations ${formatValue(robust, "ratio")}`;
  const words = variation === "flagged" ? t`uneven` : (variation ?? "");
  return t`${range}; ${words}, coefficient of variation ${formatValue(ratio, "ratio")}${robustly}`;
}

/** Number of runs where it is too small for an interval, with the button that adds some. */
function FewRuns({ n, name, onAdd }: { n: number; name: string; onAdd: (() => void) | undefined }) {
  return (
    <>
      <Badge color="orange" miw="max-content">
        {n === 1 ? t`1 run` : t`${n} runs`}
      </Badge>
      {onAdd && <RowButton aria-label={t`Add repeats of ${name}`} onClick={onAdd}>{t`Add`}</RowButton>}
    </>
  );
}

const PART_TITLES: Readonly<Record<string, string>> = { user: t`user`, sys: t`system`, wait: t`waiting` };

function Bar({ value: { result, parts }, largest }: Pick<PivotCellProps, "value" | "largest">) {
  if (largest <= 0) return null;
  if (parts.length === 0)
    return (
      <div aria-hidden="true" className="iotide-bar">
        <span className="iotide-part" style={widthOf(result, largest)} />
      </div>
    );
  const words = parts
    .map(({ labels, median, unit }) => `${PART_TITLES[String(labels.part)]} ${formatValue(median, unit)}`)
    .join(", ");
  return (
    <div aria-label={words} className="iotide-bar" role="img" title={words}>
      {parts.map((part) => (
        <span
          className="iotide-part"
          data-part={part.labels.part}
          key={part.series_id}
          style={widthOf(part, largest)}
        />
      ))}
    </div>
  );
}

function widthOf({ median }: CellResult, largest: number) {
  return { width: `${(100 * Math.max(0, median)) / largest}%` };
}

/** Colours of the parts of a duration. */
export function PartsLegend() {
  return (
    <Group aria-hidden="true" gap="xs">
      {STACKED.parts.map((part) => (
        <Group gap={4} key={part}>
          <span className="iotide-part" data-part={part} style={{ width: 12, height: 8 }} />
          <Detail>{PART_TITLES[part]}</Detail>
        </Group>
      ))}
    </Group>
  );
}
