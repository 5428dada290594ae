/** Ready-made campaigns. `./dev generate` writes them from the plans in examples/. */

import type { CampaignPlan } from "@/api/types";
import { type Choice, type Draft, draftOf, pickNodes } from "./draft";
import file from "./readyMade.json";

export interface ReadyMadePlan {
  readonly key: string;
  readonly title: string;
  readonly summary: string;
  readonly question: string;
  readonly plan: CampaignPlan;
}

export const READY_MADE = file as unknown as readonly ReadyMadePlan[];

/**
 * Return the draft with the workloads, stages and conditions of a plan. Nodes, targets, name and schedule of the draft
 * stay: those of the plan are another site's.
 */
export function withReadyMade(draft: Draft, plan: CampaignPlan): Draft {
  const made = draftOf(plan, draft.repeat);
  const name = draft.name.trim() === "" ? plan.name : draft.name;
  const { targets, window } = draft;
  const choices = distinct(made.choices.map(withoutPlaces));
  return pickNodes({ ...made, choices, name, nodes: [], observers: [], targets, window }, draft.nodes);
}

function withoutPlaces(choice: Choice): Choice {
  const kept = choice.places && { ...choice.places, nodes: null, targets: null, observers: null };
  const isEmpty = !kept || Object.values(kept).every((value) => value === null);
  return { ...choice, places: isEmpty ? undefined : kept };
}

/** Workloads that only differed in their nodes and targets are one. */
function distinct(choices: readonly Choice[]): Choice[] {
  const texts = choices.map(({ key: _, ...choice }) => JSON.stringify(choice));
  return choices.filter((_, index) => texts.indexOf(texts[index] ?? "") === index);
}

/** Return the workloads of a plan that no agent of the cluster announces. */
export function missingWorkloads(
  plan: CampaignPlan,
  announced: readonly { readonly name: string }[],
): string[] {
  const names = new Set(plan.workloads.map(({ workload }) => workload));
  return [...names].filter((wanted) => announced.every(({ name }) => name !== wanted));
}
