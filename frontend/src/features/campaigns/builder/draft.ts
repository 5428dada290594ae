/** The plan while it is being written: what the builder holds, what is still missing, and the plan it stands for. */

import { t } from "@lingui/core/macro";
import * as z from "zod/mini";
import type { CampaignPlan, Workload } from "@/api/types";
import { readFields } from "@/components/schema-form/schema";
import { type FormValue, problemsOf, toPlan } from "@/components/schema-form/values";
import { durationProblem, exactSeconds, parseSeconds } from "@/lib/units";
import {
  ANY_HOUR,
  Count,
  DraftWindow,
  NOW,
  planWindow,
  Repeat,
  repeatProblem,
  windowOf,
  windowProblem,
} from "./calendar";
import { DraftStage, NodesAtOnce, Own, ownPart, type Places, placesOf } from "./places";
import { DraftQuiet, FLAGGED, planQuiet, quietOf, quietProblem } from "./quiet";
import { hasRoleProblem, RoleSets } from "./roles";

export interface Choice extends FormValue {
  /** Stays with the choice while others are added and removed. */
  readonly key: number;
  readonly workload: string;
  /** What an earlier plan says of this workload alone; the builder keeps what the campaign still has, or drops it whole. */
  readonly places?: Places | undefined;
  /** Which nodes send and which receive; undefined: each does all of the work. */
  readonly roles?: RoleSets | undefined;
}

/** As the tab keeps it, also where an earlier release did. */
export const KeptDraft = z.object({
  name: z.string(),
  nodes: z.array(z.string()),
  nodesAtOnce: z._default(NodesAtOnce, false),
  /** Nodes that are watched in each run in which they do not load. */
  observers: z._default(z.array(z.string()), []),
  targets: z.array(z.string()),
  targetsAtOnce: z.boolean(),
  choices: z.array(
    z.object({
      key: z.number(),
      workload: z.string(),
      options: z.record(z.string(), z.unknown()),
      sweep: z.record(z.string(), z.array(z.unknown())),
      places: z.optional(Own),
      roles: z.optional(RoleSets),
    }),
  ),
  repeats: Count,
  exclusive: z.enum(["node", "node+target", "cluster", "none"]),
  cache: z.enum(["drop", "remount", "larger_than_memory", "none"]),
  coolDown: z.string(),
  quiet: z._default(DraftQuiet, FLAGGED),
  stages: z.array(DraftStage),
  timeLimit: z.string(),
  attemptsAllowed: Count,
  priority: Count,
  note: z.string(),
  window: z._default(DraftWindow, ANY_HOUR),
  repeat: z._default(Repeat, NOW),
});

export interface Draft extends Omit<Readonly<z.infer<typeof KeptDraft>>, "choices"> {
  readonly choices: readonly Choice[];
}

const LONGEST_COOL_DOWN = 86_400;

export const EMPTY_DRAFT: Draft = {
  name: "",
  nodes: [],
  nodesAtOnce: false,
  observers: [],
  targets: [],
  targetsAtOnce: false,
  choices: [],
  repeats: 4,
  exclusive: "node",
  cache: "drop",
  coolDown: "0 s",
  quiet: FLAGGED,
  stages: [],
  timeLimit: "1 h",
  attemptsAllowed: 2,
  priority: 0,
  note: "",
  window: ANY_HOUR,
  repeat: NOW,
};

/** A draft that repeats an earlier plan. */
export function draftOf(plan: CampaignPlan, repeat = NOW): Draft {
  const stages = (plan.stages ?? []).map(({ variant, pause }, key) => ({ key, variant, pause: pause ?? "" }));
  return {
    name: plan.name,
    nodes: plan.nodes,
    nodesAtOnce: plan.nodes_at_once,
    observers: plan.observers ?? [],
    targets: plan.targets,
    targetsAtOnce: plan.targets_at_once,
    choices: plan.workloads.map((choice, key) => ({
      key,
      workload: choice.workload,
      options: choice.options ?? {},
      sweep: choice.sweep ?? {},
      places: placesOf(choice, stages),
      roles: choice.roles ?? undefined,
    })),
    repeats: plan.repeats,
    exclusive: plan.exclusive,
    cache: plan.cache,
    coolDown: exactSeconds(plan.cool_down_seconds),
    quiet: quietOf(plan),
    stages,
    timeLimit: exactSeconds(plan.time_limit_seconds),
    attemptsAllowed: plan.attempts_allowed,
    priority: plan.priority,
    note: plan.note,
    window: windowOf(plan),
    repeat,
  };
}

/** The draft with other nodes, which are not only watched any more; where more and more load together, to the new number. */
export function pickNodes(draft: Draft, nodes: string[]): Draft {
  const nodesAtOnce = Array.isArray(draft.nodesAtOnce) ? doubledCounts(nodes.length) : draft.nodesAtOnce;
  const observers = draft.observers.filter((name) => !nodes.includes(name) || draft.nodes.includes(name));
  return { ...draft, nodes, nodesAtOnce, observers };
}

/** One node, twice as many, twice as many again, and all of them. */
export function doubledCounts(nodeCount: number): number[] {
  const counts: number[] = [];
  for (let count = 1; count < nodeCount; count *= 2) counts.push(count);
  return [...counts, Math.max(1, nodeCount)];
}

/** The draft with one more workload at its end. */
export function addChoice(draft: Draft, workload: string): Draft {
  const key = draft.choices.reduce((largest, choice) => Math.max(largest, choice.key), -1) + 1;
  return { ...draft, choices: [...draft.choices, { key, workload, options: {}, sweep: {} }] };
}

/** The draft with one more stage at its end; no workload names it, though one may name a stage that was removed. */
export function addStage(draft: Draft): Draft {
  const named = draft.choices.flatMap(({ places }) => places?.stages ?? []);
  const key = Math.max(-1, ...named, ...draft.stages.map((stage) => stage.key)) + 1;
  return { ...draft, stages: [...draft.stages, { key, variant: "", pause: "" }] };
}

/** The draft with the stage at `index` one place earlier. */
export function moveStageUp(draft: Draft, index: number): Draft {
  const [before, stage] = draft.stages.slice(index - 1, index + 1);
  if (!before || !stage) return draft;
  return { ...draft, stages: draft.stages.toSpliced(index - 1, 2, stage, before) };
}

/** What keeps the draft from being a plan, in words for a person; empty when it is complete. */
export function missingParts(draft: Draft, workloads: readonly Workload[]): string[] {
  const parts = [
    [draft.name.trim() === "", t`Give the campaign a name.`],
    [draft.nodes.length === 0, t`Choose at least one node.`],
    [draft.targets.length === 0, t`Choose at least one target.`],
    [
      Array.isArray(draft.nodesAtOnce) && draft.nodesAtOnce.length === 0,
      t`Choose how many nodes load together.`,
    ],
    [draft.choices.length === 0, t`Add at least one workload.`],
    [draft.repeats === "", t`Give the repeats.`],
    [draft.attemptsAllowed === "", t`Give the attempts allowed.`],
    [draft.priority === "", t`Give the priority.`],
    [timeLimitProblem(draft) !== null, t`Correct the time limit.`],
    [draft.stages.some(({ variant }) => variant.trim() === ""), t`Name each stage.`],
    [coolDownProblem(draft) !== null, t`Correct the cool-down.`],
    [quietProblem(draft.quiet) !== null, t`Correct how long runs wait for a quiet node.`],
    [windowProblem(draft.window) !== null, t`Correct the hours in which runs start.`],
    [repeatProblem(draft.repeat) !== null, repeatProblem(draft.repeat) ?? ""],
    [
      draft.choices.some((choice) => hasNoPlace(draft, choice)),
      t`A workload of its own nodes, targets or stages has none left: choose one again, or let it run as the campaign.`,
    ],
    [
      draft.choices.some((choice) => hasRoleProblem(draft.nodes, choice)),
      t`Choose two different nodes, one that sends and one that receives.`,
    ],
    [draft.choices.some((choice) => hasProblem(choice, workloads)), t`Correct the options marked in red.`],
  ] as const;
  return parts.filter(([isMissing]) => isMissing).map(([, text]) => text);
}

/** Why the time limit cannot be read, or null. */
export function timeLimitProblem({ timeLimit }: Draft): string | null {
  return durationProblem(timeLimit, (seconds) => seconds > 0, t`Give more than 0 seconds.`);
}

/** Why the cool-down cannot be read, or null. */
export function coolDownProblem({ coolDown }: Draft): string | null {
  return durationProblem(coolDown, (seconds) => seconds <= LONGEST_COOL_DOWN, t`Give at most a day.`);
}

function hasNoPlace(draft: Draft, choice: Choice): boolean {
  const { nodes, targets, variants } = ownPart(draft, choice) ?? {};
  return [nodes, targets, variants].some((names) => names?.length === 0);
}

function hasProblem(choice: Choice, workloads: readonly Workload[]): boolean {
  const workload = workloads.find(({ name }) => name === choice.workload);
  return !workload || Object.keys(problemsOf(readFields(workload.options_schema), choice)).length > 0;
}

/** The plan; only for a draft without missing parts. */
export function planOf(draft: Draft, cluster: string, workloads: readonly Workload[]): CampaignPlan {
  const schemas = new Map(workloads.map(({ name, options_schema }) => [name, options_schema]));
  return {
    name: draft.name.trim(),
    cluster,
    nodes: [...draft.nodes],
    nodes_at_once: draft.nodes.length > 1 && draft.nodesAtOnce,
    observers: [...draft.observers],
    targets: [...draft.targets],
    targets_at_once: draft.targetsAtOnce && draft.targets.length > 1,
    workloads: draft.choices.map((choice) => ({
      workload: choice.workload,
      ...toPlan(readFields(schemas.get(choice.workload) ?? {}), choice),
      ...ownPart(draft, choice),
      ...(choice.roles && { roles: choice.roles, nodes_at_once: null }),
    })),
    repeats: Number(draft.repeats),
    exclusive: draft.exclusive,
    cache: draft.cache,
    cool_down_seconds: parseSeconds(draft.coolDown),
    ...planQuiet(draft.quiet),
    stages: draft.stages.map(({ variant, pause }) => ({
      variant: variant.trim(),
      pause: pause.trim() === "" ? null : pause.trim(),
    })),
    time_limit_seconds: parseSeconds(draft.timeLimit),
    attempts_allowed: Number(draft.attemptsAllowed),
    priority: Number(draft.priority),
    window: planWindow(draft.window),
    note: draft.note,
  };
}

/** Which option of which workload a refused field belongs to: `workloads[0].options.jobs`. */
export function refusedOption(field: string | null): { index: number; option: string } | null {
  const match = /^workloads\[(\d+)\]\.(?:options|sweep)\.([A-Za-z0-9_]+)/.exec(field ?? "");
  return match?.[1] && match[2] ? { index: Number(match[1]), option: match[2] } : null;
}

interface Offer {
  readonly nodes: readonly { readonly name: string; readonly role: string }[];
  readonly targets: readonly { readonly name: string }[];
}

/** A draft of nothing yet; where there is one node to load or one target alone, it is chosen: there is no choice to make. */
export function emptyDraft({ nodes, targets }: Offer): Draft {
  const loading = nodes.filter(({ role }) => role !== "storage");
  return { ...EMPTY_DRAFT, nodes: onlyName(loading), targets: onlyName(targets) };
}

function onlyName(offered: readonly { readonly name: string }[]): string[] {
  return offered.length === 1 ? offered.map(({ name }) => name) : [];
}
