/** Nodes, targets and stages that a plan sets for a single workload. */

import * as z from "zod/mini";

/** false: one node at a time; true: all at once; a list: that many of the first nodes, one count after another. */
export const NodesAtOnce = z.union([z.boolean(), z.array(z.number())]);
export type NodesAtOnce = z.infer<typeof NodesAtOnce>;

/** Nodes, targets and stages of a workload; null: those of the plan. */
export interface Places {
  readonly nodes: string[] | null;
  readonly nodes_at_once: NodesAtOnce | null;
  readonly observers: string[] | null;
  readonly targets: string[] | null;
  readonly targets_at_once: boolean | null;
  /** Keys of stages, which do not change when a stage is renamed. */
  readonly stages: number[] | null;
}

export const DraftStage = z.object({
  /** Stable while others are added, moved and removed. */
  key: z.number(),
  variant: z.string(),
  pause: z.string(),
});
export type DraftStage = z.infer<typeof DraftStage>;

/**
 * Refers to stages by name in a plan and by key in a draft. Drafts of an earlier release have names and may lack
 * fields.
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

/** Return what a plan or stored draft sets for one workload; undefined if nothing. */
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

/** Parts of a draft that a workload may override. */
interface Whole {
  readonly nodes: readonly string[];
  readonly observers: readonly string[];
  readonly targets: readonly string[];
  readonly stages: readonly DraftStage[];
}

interface Part {
  readonly places?: Places | undefined;
}

/** Return a workload's overrides for a plan, without nodes, targets and stages that the campaign no longer has. */
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
