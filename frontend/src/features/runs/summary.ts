/** One line about a run: its values and how far to trust them. */

import { t } from "@lingui/core/macro";
import type { RunDetail, Sample } from "@/api/types";
import { cautionsOf, codesOf, commonTo, flagsConcerning } from "@/components/flagWords";
import { verbOf } from "@/lib/headline";
import { optionValue } from "@/lib/options";
import { formatValue } from "@/lib/units";
import { headlineOf } from "./headline";

const MOST_PARTS = 4;
const MOST_CAUTIONS = 3;
const SIZE = "file_size_bytes";

export interface RunSummary {
  /** For example `Wrote 16 MiB at 1.19 GB/s and read it at 1.39 GB/s`; empty without a value. */
  readonly measured: string;
  /** For example `too short to trust`, `partly may be cached`. */
  readonly cautions: readonly string[];
}

/** Summarise the values of the headline's metric, one part for each operation. */
export function summaryOf(run: Pick<RunDetail, "samples" | "flags">): RunSummary {
  const samples = headlineSamples(run.samples);
  const byOperation = new Map<string, Sample[]>();
  for (const sample of samples) {
    const operation = String(sample.labels.operation ?? "");
    byOperation.set(operation, [...(byOperation.get(operation) ?? []), sample]);
  }
  const shown = [...byOperation].slice(0, MOST_PARTS);
  const sizes = new Set(samples.map(({ labels }) => labels[SIZE]));
  const [size] = sizes.size === 1 ? sizes : [];
  const parts = shown.map(([operation, own], place) => partWords(operation, own, size, place > 0));
  const more = byOperation.size - shown.length;
  if (more > 0) parts.push(more === 1 ? t`1 more operation` : t`${more} more operations`);
  return { measured: capitalised(listed(parts)), cautions: cautionsIn(run.flags, samples) };
}

/** Current values of the headline's metric: totals if there are any, else those of single writers. */
export function headlineSamples(all: readonly Sample[]): readonly Sample[] {
  const headline = headlineOf(all);
  if (!headline) return [];
  const isWriter = "writer" in headline.labels;
  const own = all.filter(
    ({ metric, superseded, labels }) =>
      metric === headline.metric && superseded === null && "writer" in labels === isWriter,
  );
  const whole = own.filter(({ target_id }) => target_id === null);
  return whole.length > 0 ? whole : own;
}

function partWords(
  operation: string,
  samples: readonly Sample[],
  size: Sample["labels"][string] | undefined,
  isAfterFirst: boolean,
): string {
  const value = rangeWords(samples);
  const verb = samples[0] && verbOf(operation, samples[0].unit);
  if (verb) {
    const what = size === undefined ? "" : isAfterFirst ? t`it` : optionValue(SIZE, size);
    return [verb, what, t`at ${value}`].filter(Boolean).join(" ");
  }
  const name = operation ? optionValue("operation", operation).replaceAll("_", " ") : samples[0]?.title;
  return t`${name ?? ""} at ${value}`;
}

/** One value, or smallest and largest of several. */
function rangeWords(samples: readonly Sample[]): string {
  const unit = samples[0]?.unit ?? "count";
  const values = samples.map(({ value }) => value);
  const [low, high] = [Math.min(...values), Math.max(...values)].map((value) => formatValue(value, unit));
  return low === high ? `${low}` : t`${low ?? ""} to ${high ?? ""} (${samples.length} values)`;
}

function cautionsIn(flags: RunDetail["flags"], samples: readonly Sample[]): readonly string[] {
  const wordsOf = (sample: Sample) => {
    const concerning = flagsConcerning(flags, sample);
    const codes = codesOf(concerning);
    const rejecting = codesOf(concerning.filter(({ effect }) => effect === "rejected"));
    return [...(codes.includes("DURATION") ? [t`too short to trust`] : []), ...cautionsOf(codes, rejecting)];
  };
  const lists = samples.map(wordsOf);
  const common = commonTo(lists);
  const partly = [...new Set(lists.flat())].filter((word) => !common.includes(word));
  const all = [...common, ...partly.map((word) => t`partly ${word}`)];
  const more = all.length - MOST_CAUTIONS;
  return more > 0 ? [...all.slice(0, MOST_CAUTIONS), t`${more} more cautions`] : all;
}

function listed(parts: readonly string[]): string {
  const last = parts.at(-1) ?? "";
  const before = parts.slice(0, -1).join(", ");
  return before ? t`${before} and ${last}` : last;
}

function capitalised(words: string): string {
  return words.charAt(0).toUpperCase() + words.slice(1);
}
