/** Sentences of an answer: who is faster, by how much, and how sure that is. */

import { t } from "@lingui/core/macro";
import { conditionsOf } from "@/components/conditionsOf";
import { formatRoughFactor, formatRoughPercent } from "@/lib/units";
import { type Contrast, type Kind, uncapitalized } from "./contrasts";

const MOST_SENTENCES = 4;
const MOST_NAMED = 3;
/** From here on, differences are shown as factors. */
const LEAST_FACTOR = 1.5;

export interface Sentence {
  readonly key: string;
  readonly claim: string;
  /** Where the claim holds, its interval and number of runs. */
  readonly detail: string;
  /** More repeats may give a clearer answer. */
  readonly wantsRepeats: boolean;
}

export interface Answer {
  readonly sentences: readonly Sentence[];
  /** Number of sentences beyond the limit. */
  readonly leftOut: number;
}

/** Put the largest differences first, then what is equal, then what is open. */
export function answerOf(contrasts: readonly Contrast[]): Answer {
  const findings = contrasts.flatMap(findingOf).sort((a, b) => b.factor - a.factor);
  const others = OTHERS.flatMap(({ kind, claim }) => otherSentence(contrasts, kind, claim));
  const room = Math.max(1, MOST_SENTENCES - others.length);
  const groups = findings.length > room ? grouped(findings) : findings.map((finding) => [finding]);
  const all = [...groups.slice(0, room).map(findingSentence), ...others];
  const sentences = all.slice(0, MOST_SENTENCES);
  return { sentences, leftOut: Math.max(0, groups.length - room) + all.length - sentences.length };
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
    wantsRepeats: false,
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

/** Kinds other than a difference, in the order in which they are stated. */
const OTHERS: readonly { readonly kind: Kind; readonly claim: string }[] = [
  { kind: "equal", claim: t`Equal within 5 %` },
  { kind: "close", claim: t`Different by less than 5 %` },
  { kind: "undecided", claim: t`No difference shown` },
  { kind: "few", claim: t`Too few runs for an interval` },
  { kind: "one_day", claim: t`No verdict, since each side was measured on one day only` },
  { kind: "modes", claim: t`No ratio, since the runs have two modes` },
  { kind: "incomparable", claim: t`Not comparable` },
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
      wantsRepeats: kind === "undecided" || kind === "few",
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

function runsOfAll(contrasts: readonly Contrast[]): string {
  const counts = contrasts.flatMap(({ runs }) => runs);
  const [least, most] = [Math.min(...counts), Math.max(...counts)];
  if (least !== most) return t`${least} to ${most} runs each`;
  return most === 1 ? t`1 run each` : t`${most} runs each`;
}

function listed(names: readonly string[]): string {
  const more = names.length - MOST_NAMED;
  const shown = names.slice(0, more > 1 ? MOST_NAMED : MOST_NAMED + 1).join("; ");
  return more > 1 ? t`${shown} and ${more} more` : shown;
}
