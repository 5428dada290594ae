/** Draft of a plan: its form state, what is missing, and the resulting plan. */

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
import {
  countProblem,
  DraftRepeating,
  planRepeating,
  repeatingOf,
  repeatingProblem,
  TOGETHER,
} from "./repeating";
import { hasRoleProblem, RoleSets } from "./roles";
import { scratchProblems } from "./scratch";

export interface Choice extends FormValue {
  /** Stable while others are added and removed. */
  readonly key: number;
  readonly workload: string;
  /**
   * Nodes, targets and stages that an earlier plan set for this workload only. The builder keeps those still in the
   * campaign, or drops all.
   */
  readonly places?: Places | undefined;
  /** Senders and receivers; undefined: each node does all of the work. */
  readonly roles?: RoleSets | undefined;
}

/** A draft stored in the tab, perhaps by an earlier release. */
export const KeptDraft = z.object({
  name: z.string(),
  nodes: z.array(z.string()),
  nodesAtOnce: z._default(NodesAtOnce, false),
  /** Nodes monitored in each run in which they have no load. */
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
  repeating: z._default(DraftRepeating, TOGETHER),
  exclusive: z.enum(["node", "node+target", "cluster", "none"]),
  cache: z.enum(["drop", "remount", "larger_than_memory", "none"]),
  coolDown: z.string(),
  quiet: z._default(DraftQuiet, FLAGGED),
  stages: z.array(DraftStage),
  /** File systems that a node makes on scratch disks; also has what an earlier plan sets and the form does not show. */
  scratch: z.optional(z.custom<NonNullable<CampaignPlan["scratch"]>>()),
  timeLimit: z.string(),
  attemptsAllowed: Count,
  priority: Count,
  note: z.string(),
  window: z._default(DraftWindow, ANY_HOUR),
  repeat: z._default(Repeat, NOW),
  /** Undefined until it is typed: a free name like the campaign's. */
  scheduleName: z.optional(z.string()),
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
  repeating: TOGETHER,
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

/** Return a draft that repeats a plan. */
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
    repeating: repeatingOf(plan),
    exclusive: plan.exclusive,
    cache: plan.cache,
    coolDown: exactSeconds(plan.cool_down_seconds),
    quiet: quietOf(plan),
    stages,
    scratch: plan.scratch ?? undefined,
    timeLimit: exactSeconds(plan.time_limit_seconds),
    attemptsAllowed: plan.attempts_allowed,
    priority: plan.priority,
    note: plan.note,
    window: windowOf(plan),
    repeat,
  };
}

/** Return the draft with other nodes, removed from the monitored ones. Scaling up extends to the new number. */
export function pickNodes(draft: Draft, nodes: string[]): Draft {
  const nodesAtOnce = Array.isArray(draft.nodesAtOnce) ? doubledCounts(nodes.length) : draft.nodesAtOnce;
  const observers = draft.observers.filter((name) => !nodes.includes(name) || draft.nodes.includes(name));
  return { ...draft, nodes, nodesAtOnce, observers };
}

/** Return 1, 2, 4 and so on, and the number of all nodes. */
export function doubledCounts(nodeCount: number): number[] {
  const counts: number[] = [];
  for (let count = 1; count < nodeCount; count *= 2) counts.push(count);
  return [...counts, Math.max(1, nodeCount)];
}

export function addChoice(draft: Draft, workload: string): Draft {
  const key = draft.choices.reduce((largest, choice) => Math.max(largest, choice.key), -1) + 1;
  return { ...draft, choices: [...draft.choices, { key, workload, options: {}, sweep: {} }] };
}

/** Add a stage with a key that no workload names: one may still name a removed stage. */
export function addStage(draft: Draft): Draft {
  const named = draft.choices.flatMap(({ places }) => places?.stages ?? []);
  const key = Math.max(-1, ...named, ...draft.stages.map((stage) => stage.key)) + 1;
  return { ...draft, stages: [...draft.stages, { key, variant: "", pause: "" }] };
}

export function moveStageUp(draft: Draft, index: number): Draft {
  const [before, stage] = draft.stages.slice(index - 1, index + 1);
  if (!before || !stage) return draft;
  return { ...draft, stages: draft.stages.toSpliced(index - 1, 2, stage, before) };
}

/** Return what the user must still enter or correct; empty if the draft is complete. */
export function missingParts(draft: Draft, workloads: readonly Workload[]): string[] {
  const parts = [
    [draft.name.trim() === "", t`Enter a campaign name.`],
    [draft.nodes.length === 0, t`Choose at least one node.`],
    [draft.targets.length === 0, t`Choose at least one target.`],
    [
      Array.isArray(draft.nodesAtOnce) && draft.nodesAtOnce.length === 0,
      t`Choose how many nodes run at once.`,
    ],
    [draft.choices.length === 0, t`Add at least one workload.`],
    [
      countProblem(draft.repeating, draft.repeats) !== null,
      countProblem(draft.repeating, draft.repeats) ?? "",
    ],
    [repeatingProblem(draft.repeating) !== null, t`Correct the time of the repeats.`],
    [draft.attemptsAllowed === "", t`Enter the maximum attempts.`],
    [draft.priority === "", t`Enter the priority.`],
    [timeLimitProblem(draft) !== null, t`Correct the time limit.`],
    [draft.stages.some(({ variant }) => variant.trim() === ""), t`Name each stage.`],
    [coolDownProblem(draft) !== null, t`Correct the cool-down.`],
    [quietProblem(draft.quiet) !== null, t`Correct the maximum wait for an idle node.`],
    [windowProblem(draft.window) !== null, t`Correct the hours in which runs start.`],
    [repeatProblem(draft.repeat, draft.window) !== null, repeatProblem(draft.repeat, draft.window) ?? ""],
    [
      draft.choices.some((choice) => hasNoPlace(draft, choice)),
      t`A workload with its own nodes, targets or stages has none left. Choose “Use campaign settings” for it.`,
    ],
    [
      draft.choices.some((choice) => hasRoleProblem(draft.nodes, choice)),
      t`Choose two different nodes, a sender and a receiver.`,
    ],
    [draft.choices.some((choice) => hasProblem(choice, workloads)), t`Correct the options marked in red.`],
    ...scratchProblems(draft).map((text) => [true, text] as const),
  ] as const;
  return parts.filter(([isMissing]) => isMissing).map(([, text]) => text);
}

export function timeLimitProblem({ timeLimit }: Draft): string | null {
  return durationProblem(timeLimit, (seconds) => seconds > 0, t`Enter more than 0 seconds.`);
}

export function coolDownProblem({ coolDown }: Draft): string | null {
  return durationProblem(coolDown, (seconds) => seconds <= LONGEST_COOL_DOWN, t`Enter at most one day.`);
}

function hasNoPlace(draft: Draft, choice: Choice): boolean {
  const { nodes, targets, variants } = ownPart(draft, choice) ?? {};
  return [nodes, targets, variants].some((names) => names?.length === 0);
}

function hasProblem(choice: Choice, workloads: readonly Workload[]): boolean {
  const workload = workloads.find(({ name }) => name === choice.workload);
  return !workload || Object.keys(problemsOf(readFields(workload.options_schema), choice)).length > 0;
}

/** Return the plan of a complete draft. */
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
    ...planRepeating(draft.repeating),
    exclusive: draft.exclusive,
    cache: draft.cache,
    cool_down_seconds: parseSeconds(draft.coolDown),
    ...planQuiet(draft.quiet),
    stages: draft.stages.map(({ variant, pause }) => ({
      variant: variant.trim(),
      pause: pause.trim() === "" ? null : pause.trim(),
    })),
    ...(draft.scratch && { scratch: draft.scratch }),
    time_limit_seconds: parseSeconds(draft.timeLimit),
    attempts_allowed: Number(draft.attemptsAllowed),
    priority: Number(draft.priority),
    window: planWindow(draft.window),
    note: draft.note,
  };
}

/** Return the workload and option of a rejected field, such as `workloads[0].options.jobs`. */
export function refusedOption(field: string | null): { index: number; option: string } | null {
  const match = /^workloads\[(\d+)\]\.(?:options|sweep)\.([A-Za-z0-9_]+)/.exec(field ?? "");
  return match?.[1] && match[2] ? { index: Number(match[1]), option: match[2] } : null;
}

interface Offer {
  readonly nodes: readonly { readonly name: string; readonly role: string }[];
  readonly targets: readonly { readonly name: string }[];
}

/** Return an empty draft. A single node or target is selected, since there is no choice. */
export function emptyDraft({ nodes, targets }: Offer): Draft {
  const loading = nodes.filter(({ role }) => role !== "storage");
  return { ...EMPTY_DRAFT, nodes: onlyName(loading), targets: onlyName(targets) };
}

function onlyName(offered: readonly { readonly name: string }[]): string[] {
  return offered.length === 1 ? offered.map(({ name }) => name) : [];
}
