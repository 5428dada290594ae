import { t } from "@lingui/core/macro";
import { useQuery } from "@tanstack/react-query";
import type { Run } from "@/api/types";
import { cautionsOf, codesOf, notesOf } from "@/components/flagWords";
import { HeadlineValue } from "@/components/HeadlineValue";
import { headlinesQuery } from "./queries";
import { RunsTable } from "./RunsTable";

export function MeasuredRuns({ runs, label }: { runs: readonly Run[]; label: string }) {
  const finished = runs.filter(({ state }) => state === "finished").map(({ id }) => id);
  const { data: headlines } = useQuery(headlinesQuery(finished));
  // The column of notes has the cautions, so that the value has room for its name.
  const of = ({ id, flags }: Run) => (
    <HeadlineValue headline={headlines?.get(id) ?? null} shownElsewhere={wordsOf(codesOf(flags))} />
  );
  return (
    <RunsTable label={label} runs={runs} {...(finished.length > 0 && { value: { title: t`Value`, of } })} />
  );
}

function wordsOf(codes: readonly string[]): string[] {
  return [...cautionsOf(codes), ...notesOf(codes)];
}
