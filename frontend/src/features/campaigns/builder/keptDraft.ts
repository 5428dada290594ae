/** Keeps a draft in the tab while the reader looks at other pages, reloads or logs in again. */

import { t } from "@lingui/core/macro";
import { useState } from "react";
import * as z from "zod/mini";
import type { Principal } from "@/api/types";
import { ANY_HOUR, NOW } from "./calendar";
import type { Draft } from "./draft";
import { placesOf } from "./places";
import { FLAGGED } from "./quiet";

const Count = z.union([z.number(), z.literal("")]);
const NodesAtOnce = z.union([z.boolean(), z.array(z.number())]);
/** An earlier release left out what it did not know, and named the stages. */
const KeptPlaces = z.object({
  nodes: z.optional(z.nullable(z.array(z.string()))),
  nodes_at_once: z.optional(z.nullable(NodesAtOnce)),
  observers: z.optional(z.nullable(z.array(z.string()))),
  targets: z.optional(z.nullable(z.array(z.string()))),
  targets_at_once: z.optional(z.nullable(z.boolean())),
  variants: z.optional(z.nullable(z.array(z.string()))),
  stages: z.optional(z.nullable(z.array(z.number()))),
});
const KeptRoles = z.union([
  z.array(z.object({ sender: z.string(), receiver: z.string() })),
  z.literal("each_pair"),
]);
const Window = z.object({ from: z.string(), until: z.string(), timeZone: z.string() });
const Quiet = z.object({ policy: z.enum(["ignore", "flag", "wait", "refuse"]), wait: z.string() });
const Repeat = z.object({
  when: z.enum(["now", "cron", "monthly"]),
  cron: z.string(),
  place: z.string(),
  weekday: z.string(),
  at: z.string(),
  timeZone: z.string(),
  randomOffset: z.string(),
  endsAt: z.string(),
  maxFirings: Count,
  missed: z.enum(["skip", "run_once"]),
});
const Kept = z.object({
  clusterId: z.number(),
  draft: z.object({
    name: z.string(),
    nodes: z.array(z.string()),
    nodesAtOnce: z._default(NodesAtOnce, false),
    observers: z._default(z.array(z.string()), []),
    targets: z.array(z.string()),
    targetsAtOnce: z.boolean(),
    choices: z.array(
      z.object({
        key: z.number(),
        workload: z.string(),
        options: z.record(z.string(), z.unknown()),
        sweep: z.record(z.string(), z.array(z.unknown())),
        places: z.optional(KeptPlaces),
        roles: z.optional(KeptRoles),
      }),
    ),
    repeats: Count,
    exclusive: z.enum(["node", "node+target", "cluster", "none"]),
    cache: z.enum(["drop", "remount", "larger_than_memory", "none"]),
    coolDown: z.string(),
    quiet: z._default(Quiet, FLAGGED),
    stages: z.array(z.object({ key: z.number(), variant: z.string(), pause: z.string() })),
    timeLimit: z.string(),
    attemptsAllowed: Count,
    priority: Count,
    note: z.string(),
    window: z._default(Window, ANY_HOUR),
    repeat: z._default(Repeat, NOW),
  }),
});

/** What a draft begins as: an earlier campaign, a schedule that is changed, or a template; else it is empty. */
export interface Origin {
  readonly from?: number | undefined;
  readonly schedule?: number | undefined;
  readonly template?: number | undefined;
}

/** Where a person's draft lies: one for a new campaign, and one for each origin. */
export function draftKey({ kind, id }: Principal, { from, schedule, template }: Origin): string {
  const named = [
    schedule !== undefined && t`schedule ${schedule}`,
    from !== undefined && t`from ${from}`,
    template !== undefined && t`template ${template}`,
  ];
  return `iotide draft of ${kind} ${id}, ${named.find(Boolean) || "new"}`;
}

/** The draft that was left there, or null; also where an earlier release wrote what this one cannot read. */
export function readKept(key: string): { readonly clusterId: number; readonly draft: Draft } | null {
  const text = sessionStorage.getItem(key);
  const kept = text === null ? null : Kept.safeParse(JSON.parse(text));
  if (!kept?.success) return null;
  const { clusterId, draft } = kept.data;
  const choices = draft.choices.map(({ places, ...choice }) => ({
    ...choice,
    places: places && placesOf(places, draft.stages),
  }));
  return { clusterId, draft: { ...draft, choices } };
}

interface Place {
  readonly key: string;
  readonly clusterId: number;
  /** The draft where nothing was kept. */
  readonly start: Draft;
  readonly nodes: readonly { readonly name: string }[];
  readonly targets: readonly { readonly name: string }[];
}

/** A draft that is kept with each change; what the cluster does not offer is no longer chosen in it. */
export function useKeptDraft({ key, clusterId, start, nodes, targets }: Place) {
  const [draft, setDraft] = useState<Draft>(() => {
    const found = readKept(key)?.draft ?? start;
    return {
      ...found,
      nodes: onlyOffered(found.nodes, nodes),
      observers: onlyOffered(found.observers, nodes),
      targets: onlyOffered(found.targets, targets),
    };
  });
  function change(next: Draft): void {
    sessionStorage.setItem(key, JSON.stringify({ clusterId, draft: next }));
    setDraft(next);
  }
  function forget(): void {
    sessionStorage.removeItem(key);
    setDraft(start);
  }
  return { draft, change, forget, isKept: readKept(key) !== null };
}

function onlyOffered(chosen: readonly string[], offered: readonly { readonly name: string }[]): string[] {
  return chosen.filter((name) => offered.some((item) => item.name === name));
}
