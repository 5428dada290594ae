/** Contrasts of a comparison: each side against the baseline, by primary metrics only. */

import type { SidesMetric, SideVerdict } from "@/api/types";
import { headlineWords } from "@/lib/headline";
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
  /** Name of the measured value, such as `write, file size 256 MiB`. */
  readonly what: string;
  /** The same without the title of the metric; may be empty. */
  readonly where: string;
  readonly side: string;
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

export function contrastsOf({ names, against, rows }: Compared): Contrast[] {
  return rows.flatMap((row) =>
    primaryMetrics(row).flatMap((metric) =>
      metric.verdicts.flatMap((verdict, place): Contrast[] => {
        const [side, baseline] = [metric.numbers[place], metric.numbers[against]];
        const kind = verdict && kindOf(verdict, row.cells[place]?.is_alike === true);
        if (!verdict || !kind || !side || !baseline) return [];
        return [
          {
            key: [row.name, metricKey(metric), place].join(" "),
            what: wordsFor(row, metric),
            where: wordsFor(row, { ...metric, ...UNTITLED }),
            side: names[place] ?? "",
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

/** Return `file size` for `File size`; abbreviations such as `O_DIRECT` stay. */
export function uncapitalized(title: string): string {
  return /^[A-Z][a-z]/.test(title) ? title.charAt(0).toLowerCase() + title.slice(1) : title;
}
