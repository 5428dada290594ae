/** Listens to the keys of keys.ts as long as the page is shown. */

import { useNavigate } from "@tanstack/react-router";
import { useEffect, useEffectEvent } from "react";
import { type Deed, deedOf, isTaken, moveRow, PAIR_MILLISECONDS } from "./keys";

interface Opens {
  readonly help: () => void;
  readonly palette: () => void;
}

export function useKeys(open: Opens): void {
  const navigate = useNavigate();
  const act = useEffectEvent((deed: Deed) => {
    if (deed.kind === "go") void navigate({ to: deed.to });
    else if (deed.kind === "new") void navigate({ to: "/campaigns/new" });
    else if (deed.kind === "row")
      moveRow(document.getElementById("main") ?? document, document.activeElement, deed.step);
    else open[deed.kind]();
  });
  useEffect(() => {
    let last: { readonly key: string; readonly at: number } | undefined;
    const hear = (event: KeyboardEvent) => {
      if (event.ctrlKey || event.metaKey || event.altKey || event.defaultPrevented || isTaken(event.target))
        return;
      const before = last && event.timeStamp - last.at < PAIR_MILLISECONDS ? last.key : undefined;
      last = { key: event.key, at: event.timeStamp };
      const deed = deedOf(event.key, before);
      if (!deed) return;
      event.preventDefault();
      last = undefined;
      act(deed);
    };
    document.addEventListener("keydown", hear);
    return () => document.removeEventListener("keydown", hear);
  }, []);
}
