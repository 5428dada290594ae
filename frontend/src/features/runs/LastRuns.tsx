import { t } from "@lingui/core/macro";
import { useInfiniteQuery } from "@tanstack/react-query";
import { Loaded, Section, ShowMore } from "@/components/Page";
import { MeasuredRuns } from "./MeasuredRuns";
import { runsQuery } from "./queries";

/** The status line reads the same page. */
export const LAST_RUNS = 10;

export type LastRunsProps = { readonly nodeId: number } | { readonly targetId: number };

export function LastRuns(of: LastRunsProps) {
  const runs = useInfiniteQuery(runsQuery({ ...of, pageSize: LAST_RUNS }));
  return (
    <Section title={t`Latest runs`}>
      <Loaded empty={t`No runs yet.`} query={runs}>
        {(rows) => (
          <>
            <MeasuredRuns label={t`Latest runs`} runs={rows} />
            <ShowMore query={runs} />
          </>
        )}
      </Loaded>
    </Section>
  );
}
