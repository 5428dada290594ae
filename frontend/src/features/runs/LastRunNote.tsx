/** When the newest run of a node or target started, for a line of status. */

import { t } from "@lingui/core/macro";
import { Trans } from "@lingui/react/macro";
import { useInfiniteQuery } from "@tanstack/react-query";
import { RunLink } from "@/components/links";
import { When } from "@/components/values";
import { LAST_RUNS, type LastRunsProps } from "./LastRuns";
import { runsQuery } from "./queries";

export function LastRunNote(of: LastRunsProps) {
  const { data } = useInfiniteQuery(runsQuery({ ...of, pageSize: LAST_RUNS }));
  const run = data?.find(({ started_at }) => started_at !== null);
  if (data === undefined) return null;
  if (run === undefined) return <span>{t`no run yet`}</span>;
  return (
    <span>
      <Trans>
        last <RunLink id={run.id} name={t`run`} underline="always" /> <When at={run.started_at} />
      </Trans>
      {run.state === "failed" && t`, failed`}
    </span>
  );
}
