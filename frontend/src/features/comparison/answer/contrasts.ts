/** Contrasts of a comparison: each side against the baseline, by primary metrics only. */

import { t } from "@lingui/core/macro";
import type { SideNumbers, SidesMetric, SideVerdict } from "@/api/types";
import { cautionsOf } from "@/components/flagWords";
import { headlineWords } from "@/lib/headline";
import { optionValue, type Values } from "@/lib/options";
import { type Compared, metricKey, type Row } from "../compared";

/** The server's verdict on a contrast. */
export type Kind =
  | "different"
  | "equal"
  | "close"
  | "undecided"
  | "few"
  | "one_day"
  | "modes"
  | "incomparable";

export interface Contrast {
  readonly key: string;
  /** Common key of the sides of a value. */
  readonly valueKey: string;
  /** Common key of the values of a workload that differ in options only. */
  readonly measureKey: string;
  /** Name of the measured value, such as `write, file size 256 MiB`. */
  readonly what: string;
  /** The same without the title of the metric; may be empty. */
  readonly where: string;
  /** The same without title, operation and file size. */
  readonly rest: string;
  /** File size, if it is not in `rest`. */
  readonly size: string;
  readonly side: string;
  /** Sides are values of an option, not places or campaigns. */
  readonly isOfOption: boolean;
  readonly baseline: string;
  readonly kind: Kind;
  readonly metric: SidesMetric;
  readonly verdict: SideVerdict;
  /** Why the sides are not comparable, if they are not. */
  readonly unlike: string;
  /** Of the side and of the baseline. */
  readonly runs: readonly [number, number];
  readonly medians: readonly [number, number];
}

const KINDS: Partial<Record<SideVerdict["verdict"], Kind>> = {
  higher: "different",
  lower: "different",
  equal: "equal",
  below_practical: "close",
  no_difference_shown: "undecided",
  few_runs: "few",
  one_run: "few",
  two_modes: "modes",
};

/** Headlines of throughput have no title. */
const UNTITLED = { metric: "throughput", title: "" };

export function contrastsOf({ names, by, against, rows }: Compared): Contrast[] {
  return rows.flatMap((row) =>
    primaryMetrics(row).flatMap((found) => {
      const metric = { ...found, labels: ownLabels(row, found) };
      return metric.verdicts.flatMap((verdict, place): Contrast[] => {
        const [side, baseline] = [metric.numbers[place], metric.numbers[against]];
        const kind = verdict && kindOf(verdict, row.cells[place]?.is_alike === true);
        if (!verdict || !kind || !side || !baseline) return [];
        return [
          {
            key: [row.name, metricKey(found), place].join(" "),
            measureKey: [row.workload, metric.metric, metric.labels.operation].join(" "),
            valueKey: [row.name, metricKey(found)].join(" "),
            what: wordsFor(row, metric),
            where: wordsFor(row, { ...metric, ...UNTITLED }),
            ...sizeAndRest(row, metric),
            side: names[place] ?? "",
            isOfOption: by?.startsWith("options.") === true,
            baseline: names[against] ?? "",
            kind,
            metric,
            verdict,
            unlike:
              verdict.verdict === "unlike"
                ? unlikeWords(side, baseline, [names[place], names[against]])
                : t`the setups differ`,
            runs: [side.n, baseline.n],
            medians: [side.median, baseline.median],
          },
        ];
      });
    }),
  );
}

/** Return primary metrics of whole runs. Single writers count only where there is no total. */
function primaryMetrics({ metrics }: Row): SidesMetric[] {
  const primary = metrics.filter((metric) => metric.is_primary);
  const whole = primary.filter(({ labels }) => !("writer" in labels));
  return whole.length > 0 ? whole : primary;
}

/** Cautions of one side only. */
function unlikeWords(side: SideNumbers, baseline: SideNumbers, [own, base]: (string | undefined)[]): string {
  const [words, others] = [cautionsOf(side.flags), cautionsOf(baseline.flags)];
  const only = (name: string, found: readonly string[], other: readonly string[]) => {
    const extra = found.filter((word) => !other.includes(word));
    return extra.length > 0 ? [t`only ${name}: ${extra.join(", ")}`] : [];
  };
  return [...only(own ?? "", words, others), ...only(base ?? "", others, words)].join("; ");
}

/** Return null for a metric that the server does not judge. */
function kindOf({ verdict, basis }: SideVerdict, isAlike: boolean): Kind | null {
  if (!isAlike) return "incomparable";
  if (verdict === "not_judged") return basis === "one_day" ? "one_day" : null;
  return KINDS[verdict] ?? "incomparable";
}

function wordsFor({ workload, distinction, isOfMany }: Row, metric: SidesMetric): string {
  const words = [isOfMany && workload, uncapitalized(headlineWords(metric))].filter(Boolean).join(" ");
  return [words, uncapitalized(distinction)].filter(Boolean).join(", ");
}

/** Leave out labels that repeat an option, such as dd's file size. */
function ownLabels({ options }: Row, { labels }: SidesMetric): SidesMetric["labels"] {
  return Object.fromEntries(Object.entries(labels).filter(([name, value]) => options[name] !== value));
}

const SIZE = "file_size_bytes";

function sizeAndRest(row: Row, metric: SidesMetric): Pick<Contrast, "size" | "rest"> {
  const { operation: _, [SIZE]: own, ...labels } = metric.labels;
  const { [SIZE]: size = own }: Values = row.options;
  const words = size === undefined ? "" : optionValue(SIZE, size);
  return {
    size: row.distinction.includes(words) ? "" : words,
    rest: wordsFor(row, { ...metric, ...UNTITLED, labels }),
  };
}

/** Return `file size` for `File size`; abbreviations such as `O_DIRECT` stay. */
export function uncapitalized(title: string): string {
  return /^[A-Z][a-z]/.test(title) ? title.charAt(0).toLowerCase() + title.slice(1) : title;
}
