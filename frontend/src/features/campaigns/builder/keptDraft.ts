/** Stores a draft in the tab across navigation, reloads and sign-in. */

import { t } from "@lingui/core/macro";
import { useState } from "react";
import * as z from "zod/mini";
import type { Principal } from "@/api/types";
import type { Remedy } from "@/lib/remedies";
import { type Draft, KeptDraft } from "./draft";
import { placesOf } from "./places";
import { placeOf } from "./scratch";

const Kept = z.object({ clusterId: z.number(), draft: KeptDraft });

/** Start of a draft: an earlier campaign, a schedule being edited or a template; otherwise empty. */
export interface Origin {
  readonly from?: number | undefined;
  readonly schedule?: number | undefined;
  readonly template?: number | undefined;
  /** Changes of that plan. */
  readonly with?: readonly Remedy[] | undefined;
  /** Starts as a schedule for every night; undefined: to be submitted once. */
  readonly repeat?: "nightly" | undefined;
}

/** Return the storage key of a user's draft: one for new campaigns and one per origin. */
export function draftKey(
  { kind, id }: Principal,
  { from, schedule, template, with: remedies = [], repeat }: Origin,
): string {
  const named = [
    schedule !== undefined && t`schedule ${schedule}`,
    from !== undefined && [t`from ${from}`, ...remedies].join(" "),
    template !== undefined && t`template ${template}`,
  ];
  return [`iotide draft of ${kind} ${id}, ${named.find(Boolean) || "new"}`, repeat]
    .filter(Boolean)
    .join(", ");
}

/** Return the stored draft, or null; also null if an earlier release stored a format that cannot be read. */
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
  /** The draft if nothing is stored. */
  readonly start: Draft;
  readonly nodes: readonly { readonly name: string }[];
  readonly targets: readonly { readonly name: string }[];
}

/** A draft that is stored with each change. Nodes and targets that the cluster does not offer are deselected. */
export function useKeptDraft({ key, clusterId, start, nodes, targets }: Place) {
  const [draft, setDraft] = useState<Draft>(() => {
    const found = readKept(key)?.draft ?? start;
    return {
      ...found,
      nodes: onlyOffered(found.nodes, nodes),
      observers: onlyOffered(found.observers, nodes),
      targets: onlyOffered(
        found.targets,
        found.scratch ? [...targets, { name: placeOf(found.scratch) }] : targets,
      ),
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
