/** What a plan says of one workload alone: on which nodes and targets and in which stages it is run. */

import type { CampaignPlan } from "@/api/types";

/** Which nodes load together: each alone, all, or so many of the first, one count after another. */
export type NodesAtOnce = CampaignPlan["nodes_at_once"];

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

export interface DraftStage {
  /** Stays with the stage while others are added, moved and removed. */
  readonly key: number;
  readonly variant: string;
  readonly pause: string;
}

/** By the names of its stages, as in a plan, or by their keys, as in a draft. */
interface Own {
  readonly nodes?: string[] | null | undefined;
  readonly nodes_at_once?: NodesAtOnce | null | undefined;
  readonly observers?: string[] | null | undefined;
  readonly targets?: string[] | null | undefined;
  readonly targets_at_once?: boolean | null | undefined;
  readonly variants?: string[] | null | undefined;
  readonly stages?: number[] | null | undefined;
}

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
