/** Sentences of an answer: who is faster, by how much, and how sure that is. */

import { t } from "@lingui/core/macro";
import { conditionsOf } from "@/components/conditionsOf";
import { formatRoughFactor, formatRoughPercent } from "@/lib/units";
import { type Contrast, type Kind, uncapitalized } from "./contrasts";
import { openSentences, valueSentences } from "./values";
import { listed, runsOfAll, type Sentence } from "./words";

const MOST_SENTENCES = 4;
/** Values without a ratio that are shown next to judged ones. */
const FEWEST_VALUES = 2;
/** From here on, differences are shown as factors. */
const LEAST_FACTOR = 1.5;

export interface Answer {
  readonly sentences: readonly Sentence[];
  /** Number of sentences beyond the limit. */
  readonly leftOut: number;
}

/** Put the largest differences first, then what is equal or undecided, then values without a ratio. */
export function answerOf(contrasts: readonly Contrast[]): Answer {
  const findings = contrasts.flatMap(findingOf).sort((a, b) => b.factor - a.factor);
  const others = OTHERS.flatMap(({ kind, claim }) => otherSentence(contrasts, kind, claim));
  const values = valueSentences(contrasts);
  const room = Math.max(1, MOST_SENTENCES - others.length - Math.min(values.length, FEWEST_VALUES));
  const groups = findings.length > room ? grouped(findings) : findings.map((finding) => [finding]);
  const judged = [...groups.slice(0, room).map(findingSentence), ...others].slice(0, MOST_SENTENCES);
  const shown = values.slice(0, Math.max(FEWEST_VALUES, MOST_SENTENCES - judged.length));
  return {
    sentences: [...judged, ...shown, ...openSentences(contrasts)],
    leftOut: groups.length + others.length + values.length - judged.length - shown.length,
  };
}

type Manner = "faster" | "lower" | "higher";

/** A significant difference, as a factor of at least 1 in favour of the first name. */
interface Finding {
  readonly contrast: Contrast;
  readonly manner: Manner;
  readonly first: string;
  readonly second: string;
  readonly factor: number;
  readonly low: number | null;
  readonly high: number | null;
}

function findingOf(contrast: Contrast): Finding[] {
  const { metric, verdict, side, baseline, kind } = contrast;
  const ratio = verdict.ratio ?? verdict.median_ratio;
  if (kind !== "different" || ratio === null) return [];
  const manner = mannerOf(contrast);
  const isSideFirst = metric.better === "lower" ? ratio < 1 : ratio > 1;
  const [first, second] = metric.better === "neither" || isSideFirst ? [side, baseline] : [baseline, side];
  const isInverse = ratio < 1;
  const [low, high] = isInverse ? [inverse(verdict.high), inverse(verdict.low)] : [verdict.low, verdict.high];
  return [{ contrast, manner, first, second, factor: isInverse ? 1 / ratio : ratio, low, high }];
}

function inverse(ratio: number | null): number | null {
  return ratio === null || ratio === 0 ? null : 1 / ratio;
}

function mannerOf({ metric, verdict }: Contrast): Manner {
  if (metric.better === "higher" && metric.unit.endsWith("_per_second")) return "faster";
  if (metric.better === "higher") return "higher";
  return metric.better === "lower" || verdict.verdict === "lower" ? "lower" : "higher";
}

/** Findings that one sentence can state. */
function grouped(findings: readonly Finding[]): Finding[][] {
  const groups = new Map<string, Finding[]>();
  for (const finding of findings) {
    const { manner, first, second, contrast } = finding;
    const key = [manner, first, second, manner === "faster" ? "" : contrast.metric.title].join("\n");
    groups.set(key, [...(groups.get(key) ?? []), finding]);
  }
  return [...groups.values()];
}

function findingSentence(group: readonly Finding[]): Sentence {
  const [finding] = group as [Finding];
  const { contrast, low, high } = finding;
  const factors = group.map(({ factor }) => factor);
  const size = sizeOf(finding.manner, Math.min(...factors), Math.max(...factors));
  const sure =
    group.length === 1 && low !== null && high !== null
      ? t`${sizeOf(finding.manner, low, high, size.isFactor).words}; ${runsWords(contrast)}`
      : runsOfAll(group.map((one) => one.contrast));
  return {
    key: contrast.key,
    claim: claimOf(finding, size),
    detail: [
      ...forWords(group),
      `(${[sure, ...new Set(group.flatMap((one) => conditionsOf(one.contrast.verdict)))].join("; ")})`,
    ].join(" "),
    repeats: null,
  };
}

function forWords(group: readonly Finding[]): string[] {
  const names = group.map(({ manner, contrast }) => (manner === "faster" ? contrast.what : contrast.where));
  return names.every(Boolean) ? [t`for ${listed(names)}`] : [];
}

function claimOf({ manner, first, second, contrast }: Finding, { words, isFactor }: Size): string {
  const title = uncapitalized(contrast.metric.title);
  switch (manner) {
    case "faster":
      return isFactor
        ? t`${first} is ${words} as fast as ${second}`
        : t`${first} is ${words} faster than ${second}`;
    case "higher":
      return t`${first}: ${title} ${words} higher than ${second}`;
    case "lower":
      return t`${first}: ${title} ${words} lower than ${second}`;
  }
}

interface Size {
  readonly words: string;
  readonly isFactor: boolean;
}

/** Return `4.8x`, `1.2 to 4.8x`, `12 %` or `12 to 46 %`. */
function sizeOf(manner: Manner, least: number, most: number, isFactor = most >= LEAST_FACTOR): Size {
  const isOfSpeed = manner === "faster" && isFactor;
  const share = (factor: number) => (manner === "lower" ? 1 - 1 / factor : factor - 1);
  const format = isOfSpeed ? formatRoughFactor : (factor: number) => formatRoughPercent(share(factor));
  const [from, to] = [format(least), format(most)];
  const unit = isOfSpeed ? "x" : " %";
  return { words: `${from === to ? to : t`${from} to ${to}`}${unit}`, isFactor: isOfSpeed };
}

/** Judged kinds other than a difference, in the order in which they are stated. */
const OTHERS: readonly { readonly kind: Kind; readonly claim: string }[] = [
  { kind: "equal", claim: t`Equal within 5 %` },
  { kind: "close", claim: t`Different by less than 5 %` },
  { kind: "undecided", claim: t`No difference shown` },
];

function otherSentence(contrasts: readonly Contrast[], kind: Kind, claim: string): Sentence[] {
  const alike = contrasts.filter((contrast) => contrast.kind === kind);
  if (alike.length === 0) return [];
  const sides = new Set(alike.map(({ side }) => side));
  const [{ baseline }] = alike as [Contrast];
  const between =
    sides.size === 1
      ? t`${[...sides].join("")} and ${baseline}`
      : t`${listed([...sides])} against ${baseline}`;
  const spans = kind === "undecided" && alike.length === 1 ? spanWords(alike[0]) : "";
  return [
    {
      key: kind,
      claim: `${claim}:`,
      detail: t`${between} for ${listed([...new Set(alike.map(({ what }) => what))])} (${spans}${runsOfAll(alike)})`,
      repeats: kind === "undecided" ? 0 : null,
    },
  ];
}

/** The possible difference where none is shown. */
function spanWords(contrast: Contrast | undefined): string {
  const { low = null, high = null } = contrast?.verdict ?? {};
  return low === null || high === null
    ? ""
    : t`could be ${formatRoughPercent(low - 1)} to ${formatRoughPercent(high - 1)} %; `;
}

function runsWords(contrast: Contrast): string {
  const [side, baseline] = contrast.runs;
  return side === baseline ? runsOfAll([contrast]) : t`${side} and ${baseline} runs`;
}
