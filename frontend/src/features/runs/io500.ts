/** Results of an IO500 run: phases in their order, means, score, and why it is not valid. */

import { t } from "@lingui/core/macro";
import type { RunDetail, Sample } from "@/api/types";

const WORKLOAD = "io500";
/** Label of runs with another stonewall time than the rules ask for. */
const MINI = "io500-mini";
/** Limit of the flags for what the IO500 itself calls invalid. */
const RULES = "the rules of the IO500";

const ORDER = [
  "ior-easy-write",
  "mdtest-easy-write",
  "ior-hard-write",
  "mdtest-hard-write",
  "find",
  "ior-easy-read",
  "mdtest-easy-stat",
  "ior-hard-read",
  "mdtest-hard-stat",
  "mdtest-easy-delete",
  "mdtest-hard-read",
  "mdtest-hard-delete",
];

export interface Io500Phase {
  readonly name: string;
  readonly rate: Sample;
  readonly seconds: number | null;
  /** Part of the score. */
  readonly isScored: boolean;
}

export interface Io500 {
  readonly score: Sample | undefined;
  readonly bandwidth: Sample | undefined;
  readonly metadata: Sample | undefined;
  readonly phases: readonly Io500Phase[];
  /** Why the run is not valid; empty if it is. */
  readonly reasons: readonly string[];
  /** A run with a shorter stonewall, which is not compared with published ones. */
  readonly isMini: boolean;
}

/** Return the result of the IO500; undefined for other workloads, or before there is one. */
export function io500Of(run: Pick<RunDetail, "workload" | "samples" | "flags">): Io500 | undefined {
  // Of one program over several nodes, each node has values of its own.
  const samples = run.samples.filter(
    ({ superseded, labels }) => superseded === null && !("writer" in labels),
  );
  if (run.workload !== WORKLOAD || samples.length === 0) return undefined;
  const named = (metric: string) => samples.find((sample) => sample.metric === metric);
  const isMini = samples.some(({ labels }) => labels.series === MINI);
  const broken = run.flags.filter(({ limit }) => limit === RULES).map(({ measured }) => measured);
  return {
    score: named("score"),
    bandwidth: named("mean_throughput"),
    metadata: named("mean_operation_rate"),
    phases: phasesOf(samples),
    reasons: broken.length > 0 || !isMini ? broken : [t`The stonewall time is not 300 s.`],
    isMini,
  };
}

function phasesOf(samples: readonly Sample[]): Io500Phase[] {
  const place = (name: string) => (ORDER.includes(name) ? ORDER.indexOf(name) : ORDER.length);
  return samples
    .filter(({ metric, labels }) => "operation" in labels && isRate(metric))
    .map((rate) => {
      const name = String(rate.labels.operation);
      const duration = samples.find((one) => one.metric === "duration" && one.labels.operation === name);
      return { name, rate, seconds: duration?.value ?? null, isScored: ORDER.includes(name) };
    })
    .sort((a, b) => place(a.name) - place(b.name));
}

function isRate(metric: string): boolean {
  return metric === "throughput" || metric === "operation_rate";
}
