/** Contrasts of a comparison: each side against the baseline, by primary metrics only. */

import type { SidesMetric, SideVerdict } from "@/api/types";
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
    primaryMetrics(row).flatMap((metric) =>
      metric.verdicts.flatMap((verdict, place): Contrast[] => {
        const [side, baseline] = [metric.numbers[place], metric.numbers[against]];
        const kind = verdict && kindOf(verdict, row.cells[place]?.is_alike === true);
        if (!verdict || !kind || !side || !baseline) return [];
        return [
          {
            key: [row.name, metricKey(metric), place].join(" "),
            valueKey: [row.name, metricKey(metric)].join(" "),
            what: wordsFor(row, metric),
            where: wordsFor(row, { ...metric, ...UNTITLED }),
            ...sizeAndRest(row, metric),
            side: names[place] ?? "",
            isOfOption: by?.startsWith("options.") === true,
            baseline: names[against] ?? "",
            kind,
            metric,
            verdict,
            runs: [side.n, baseline.n],
            medians: [side.median, baseline.median],
          },
        ];
      }),
    ),
  );
}

/** Return primary metrics of whole runs. Single writers count only where there is no total. */
function primaryMetrics({ metrics }: Row): SidesMetric[] {
  const primary = metrics.filter((metric) => metric.is_primary);
  const whole = primary.filter(({ labels }) => !("writer" in labels));
  return whole.length > 0 ? whole : primary;
}

/** Return null for a metric that the server does not judge. */
function kindOf({ verdict, basis }: SideVerdict, isAlike: boolean): Kind | null {
  if (!isAlike) return "incomparable";
  if (verdict === "not_judged") return basis === "one_day" ? "one_day" : null;
  return KINDS[verdict] ?? "incomparable";
}

function wordsFor({ name, workload }: Row, metric: SidesMetric): string {
  const where = name === workload ? "" : uncapitalized(name);
  return [uncapitalized(headlineWords(metric)), where].filter(Boolean).join(", ");
}

const SIZE = "file_size_bytes";

/** The name of the row has the file size if rows differ in it. */
function sizeAndRest(row: Row, metric: SidesMetric): Pick<Contrast, "size" | "rest"> {
  const { operation: _, [SIZE]: own, ...labels } = metric.labels;
  const { [SIZE]: size = own }: Values = row.options;
  const words = size === undefined ? "" : optionValue(SIZE, size);
  return {
    size: row.name.includes(words) ? "" : words,
    rest: wordsFor(row, { ...metric, ...UNTITLED, labels }),
  };
}

/** Return `file size` for `File size`; abbreviations such as `O_DIRECT` stay. */
export function uncapitalized(title: string): string {
  return /^[A-Z][a-z]/.test(title) ? title.charAt(0).toLowerCase() + title.slice(1) : title;
}
