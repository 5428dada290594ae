import { t } from "@lingui/core/macro";
import { useQuery } from "@tanstack/react-query";
import type { Run } from "@/api/types";
import { HeadlineValue } from "@/components/HeadlineValue";
import { headlinesQuery } from "./queries";
import { RunsTable } from "./RunsTable";

export function MeasuredRuns({ runs, label }: { runs: readonly Run[]; label: string }) {
  const finished = runs.filter(({ state }) => state === "finished").map(({ id }) => id);
  const { data: headlines } = useQuery(headlinesQuery(finished));
  const of = ({ id }: Run) => <HeadlineValue headline={headlines?.get(id) ?? null} />;
  return (
    <RunsTable label={label} runs={runs} {...(finished.length > 0 && { value: { title: t`Value`, of } })} />
  );
}
