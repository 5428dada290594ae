import type { TrendEvent } from "@/api/types";

export interface Difference {
  readonly what: string;
  /** Null for an event added by a user, and where the text names no values. */
  readonly before: string | null;
  readonly after: string | null;
}

const ONE = /^([a-z][\w.]*): (.*) -> (.*)$/s;

/** Split `kernel: 6.1 -> 6.2; mount.options: rw -> ro` into two. The text of a user stays whole. */
export function differencesOf({ kind, text }: Pick<TrendEvent, "kind" | "text">): Difference[] {
  if (kind === "manual") return [{ what: text, before: null, after: null }];
  // A value may contain a semicolon. Only a name and a colon start the next difference.
  return text.split(/; (?=[a-z][\w.]*: |and \d+ more$)/).map((part) => {
    const [, what, before, after] = ONE.exec(part) ?? [];
    if (what === undefined || before === undefined || after === undefined)
      return { what: part, before: null, after: null };
    return { what, before, after };
  });
}
