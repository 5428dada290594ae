/** What a plan says of one workload alone: on which nodes and targets and in which stages it is run. */

import * as z from "zod/mini";

/** Which nodes load together: each alone, all, or so many of the first, one count after another. */
export const NodesAtOnce = z.union([z.boolean(), z.array(z.number())]);
export type NodesAtOnce = z.infer<typeof NodesAtOnce>;

/** Where and in which stages a workload is run; null: as the whole plan. */
export interface Places {
  readonly nodes: string[] | null;
  readonly nodes_at_once: NodesAtOnce | null;
  readonly observers: string[] | null;
  readonly targets: string[] | null;
  readonly targets_at_once: boolean | null;
  /** Keys, so that they stay with a stage that gets another name. */
  readonly stages: number[] | null;
}

export const DraftStage = z.object({
  /** Stays with the stage while others are added, moved and removed. */
  key: z.number(),
  variant: z.string(),
  pause: z.string(),
});
export type DraftStage = z.infer<typeof DraftStage>;

/**
 * By the names of its stages, as in a plan, or by their keys, as in a draft. An earlier release left out what it did not
 * know, and named the stages.
 */
export const Own = z.object({
  nodes: z.optional(z.nullable(z.array(z.string()))),
  nodes_at_once: z.optional(z.nullable(NodesAtOnce)),
  observers: z.optional(z.nullable(z.array(z.string()))),
  targets: z.optional(z.nullable(z.array(z.string()))),
  targets_at_once: z.optional(z.nullable(z.boolean())),
  variants: z.optional(z.nullable(z.array(z.string()))),
  stages: z.optional(z.nullable(z.array(z.number()))),
});
type Own = z.infer<typeof Own>;

/** What a plan or a kept draft says of one workload alone; undefined where it says nothing. */
export function placesOf(own: Own, stages: readonly DraftStage[]): Places | undefined {
  const { nodes = null, nodes_at_once = null, observers = null } = own;
  const { targets = null, targets_at_once = null, variants } = own;
  const names = variants?.map((variant) => variant.trim());
  const named = names && stages.filter(({ variant }) => names.includes(variant.trim()));
  const places = {
    nodes,
    nodes_at_once,
    observers,
    targets,
    targets_at_once,
    stages: own.stages ?? named?.map(({ key }) => key) ?? null,
  };
  return Object.values(places).some((value) => value !== null) ? places : undefined;
}

/** What of a draft a workload may name for itself. */
interface Whole {
  readonly nodes: readonly string[];
  readonly observers: readonly string[];
  readonly targets: readonly string[];
  readonly stages: readonly DraftStage[];
}

interface Part {
  readonly places?: Places | undefined;
}

/** What a workload says for itself as a plan says it: of that, what the campaign still has. */
export function ownPart(draft: Whole, { places }: Part) {
  if (!places) return undefined;
  const { nodes, nodes_at_once, observers, targets, targets_at_once, stages } = places;
  const kept = stages && draft.stages.filter(({ key }) => stages.includes(key));
  return {
    nodes: nodes?.filter((name) => draft.nodes.includes(name)) ?? null,
    nodes_at_once,
    observers: observers?.filter((name) => draft.observers.includes(name)) ?? null,
    targets: targets?.filter((name) => draft.targets.includes(name)) ?? null,
    targets_at_once,
    variants: kept?.map(({ variant }) => variant.trim()) ?? null,
  };
}
