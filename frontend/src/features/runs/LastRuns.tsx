import { t } from "@lingui/core/macro";
import { useInfiniteQuery } from "@tanstack/react-query";
import { Loaded, Section, ShowMore } from "@/components/Page";
import { MeasuredRuns } from "./MeasuredRuns";
import { runsQuery } from "./queries";

const PAGE_SIZE = 10;

type LastRunsProps = { readonly nodeId: number } | { readonly targetId: number };

export function LastRuns(of: LastRunsProps) {
  const runs = useInfiniteQuery(runsQuery({ ...of, pageSize: PAGE_SIZE }));
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
