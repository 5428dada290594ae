/** The draft of a new campaign, before anything was entered. */

import { type Draft, EMPTY_DRAFT } from "./draft";

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
