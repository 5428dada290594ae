/** Lines of an answer where no ratio is known: the values themselves, best first, and why there is no verdict. */

import { t } from "@lingui/core/macro";
import { groupBy } from "@/lib/grouping";
import { verbOf } from "@/lib/headline";
import { formatValue } from "@/lib/units";
import type { Contrast, Kind } from "./contrasts";
import { listed, runsOfAll, type Sentence } from "./words";

const WITHOUT_RATIO: readonly Kind[] = ["few", "one_day", "modes", "incomparable"];

/** Return one line for each value: the best of each metric and operation, then the others. */
export function valueSentences(contrasts: readonly Contrast[]): Sentence[] {
  const unknown = contrasts.filter(({ kind }) => WITHOUT_RATIO.includes(kind));
  const measures = [...groupBy(unknown, ({ measureKey }) => measureKey).values()].map((own) =>
    [...groupBy(own, ({ valueKey }) => valueKey).values()].sort(byBest),
  );
  const best = measures.flatMap(([first]) => (first ? [first] : []));
  const others = measures.flatMap(([, ...rest]) => rest);
  return [...best, ...others].map(valueSentence);
}

function byBest(a: readonly Contrast[], b: readonly Contrast[]): number {
  const [one] = a as [Contrast];
  return signOf(one) * ((ranked(a)[0]?.median ?? 0) - (ranked(b)[0]?.median ?? 0));
}

function signOf({ metric: { better } }: Contrast): number {
  return better === "lower" ? 1 : -1;
}

/** Sides with their medians, best first. */
function ranked(group: readonly Contrast[]) {
  const [first] = group as [Contrast];
  const sides = [
    { name: first.baseline, median: first.medians[1] },
    ...group.map(({ side, medians }) => ({ name: side, median: medians[0] })),
  ];
  return sides.sort((a, b) => signOf(first) * (a.median - b.median));
}

function valueSentence(group: readonly Contrast[]): Sentence {
  const [contrast] = group as [Contrast];
  const { metric, isOfOption, size, rest, what, valueKey } = contrast;
  const sides = ranked(group).map(({ name, median }) => ({ name, value: formatValue(median, metric.unit) }));
  const [best, ...others] = sides;
  const verb = isOfOption ? undefined : verbOf(metric.labels.operation, metric.unit);
  const common = { key: valueKey, repeats: null };
  if (!verb) {
    const values = listed(
      sides.map(({ name, value }) => t`${value} (${name})`),
      ", ",
    );
    return { ...common, claim: `${what}:`, detail: values };
  }
  const wrote = [best?.name, verb, size, t`at ${best?.value ?? ""}`].filter(Boolean).join(" ");
  const after = listed(
    others.map(({ name, value }) => t`${name} at ${value}`),
    ", ",
  );
  return { ...common, claim: `${wrote},`, detail: rest ? `${after} (${rest})` : after };
}

/** Return why there is no verdict, and what it needs, for each kind of contrast without a ratio. */
export function openSentences(contrasts: readonly Contrast[]): Sentence[] {
  return WITHOUT_RATIO.flatMap((kind) => {
    const own = contrasts.filter((contrast) => contrast.kind === kind);
    return own.length > 0 ? [openSentence(kind, own)] : [];
  });
}

function openSentence(kind: Kind, own: readonly Contrast[]): Sentence {
  if (kind !== "few") return { key: kind, claim: t`No verdict:`, detail: reasonOf(kind, own), repeats: null };
  const missing = Math.max(...own.map(({ verdict }) => verdict.runs_missing));
  const isSingle = own.every(({ runs }) => Math.max(...runs) === 1);
  return {
    key: kind,
    claim: isSingle
      ? t`One run a configuration: differences are unknown.`
      : t`Too few runs to show differences (${runsOfAll(own)}).`,
    detail: neededWords(missing),
    repeats: missing,
  };
}

/** Sides of enough runs lack days. */
function neededWords(missing: number): string {
  if (missing === 0) return t`A verdict needs runs on more days.`;
  return missing === 1
    ? t`A verdict needs 1 more run of each.`
    : t`A verdict needs ${missing} more runs of each.`;
}

function reasonOf(kind: Kind, own: readonly Contrast[]): string {
  switch (kind) {
    case "one_day":
      return t`each side was measured on one day only`;
    case "modes":
      return t`the runs have two modes`;
    default:
      return listed([...new Set(own.map(({ unlike }) => unlike))]);
  }
}
