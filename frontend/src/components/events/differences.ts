/** The single differences that an event names; pure. */

import type { TrendEvent } from "@/api/types";

export interface Difference {
  readonly what: string;
  /** Null where the event is a sentence of a person, or says no more. */
  readonly before: string | null;
  readonly after: string | null;
}

const ONE = /^([a-z][\w.]*): (.*) -> (.*)$/s;

/** `kernel: 6.1 -> 6.2; mount.options: rw -> ro` as two; what a person told stays as it is. */
export function differencesOf({ kind, text }: Pick<TrendEvent, "kind" | "text">): Difference[] {
  if (kind === "manual") return [{ what: text, before: null, after: null }];
  // A value may hold a semicolon; only what a name and a colon follow begins another difference.
  return text.split(/; (?=[a-z][\w.]*: |and \d+ more$)/).map((part) => {
    const [, what, before, after] = ONE.exec(part) ?? [];
    if (what === undefined || before === undefined || after === undefined)
      return { what: part, before: null, after: null };
    return { what, before, after };
  });
}
