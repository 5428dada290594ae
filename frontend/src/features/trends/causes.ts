/** Short text of the event at a change, for its label. */

import type { SeriesAnalysis, SeriesChange } from "@/api/types";
import { differencesOf } from "@/components/events/differences";

const MOST_LETTERS = 48;

/** Prefers what users added; of detected differences, the shortest one. Null without an event at the change. */
export function causeOf(
  change: Pick<SeriesChange, "id">,
  events: SeriesAnalysis["events"] | undefined,
): string | null {
  const near = (events ?? []).filter(({ change_id }) => change_id === change.id).map(({ event }) => event);
  const added = near.filter(({ kind }) => kind === "manual");
  const texts = (added.length > 0 ? added : near).flatMap((event) => differencesOf(event).map(inWords));
  const [shortest] = texts.sort((a, b) => a.length - b.length);
  if (shortest === undefined) return null;
  return shortest.length > MOST_LETTERS ? `${shortest.slice(0, MOST_LETTERS - 1).trimEnd()}…` : shortest;
}

function inWords({ what, before, after }: ReturnType<typeof differencesOf>[number]): string {
  return before === null || after === null ? what : `${what} ${before} → ${after}`;
}
