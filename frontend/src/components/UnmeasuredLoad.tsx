/** Of which campaigns the other load on the nodes was not measured in each run: such a run is not a quiet one. */

import { t } from "@lingui/core/macro";
import { Alert } from "@mantine/core";
import { useQueries } from "@tanstack/react-query";
import type { Conduct } from "@/api/types";
import { conductQuery } from "./conductQueries";

export function UnmeasuredLoad({ campaignIds }: { campaignIds: readonly number[] }) {
  const ids = [...new Set(campaignIds)];
  const found = useQueries({ queries: ids.map((id) => conductQuery(id)) });
  const lines = ids.flatMap((id, place) => unmeasuredWords(id, found[place]?.data) ?? []);
  if (lines.length === 0) return null;
  return (
    <Alert color="orange" title={t`Other load not measured`}>
      {lines.join("; ")}
    </Alert>
  );
}

/** How many runs of a campaign nobody measured; null where there is none. */
export function unmeasuredWords(
  campaignId: number,
  conduct: Pick<Conduct, "runs" | "load_not_measured"> | undefined,
): string | null {
  if (!conduct || conduct.load_not_measured === 0) return null;
  return t`campaign ${campaignId}: ${conduct.load_not_measured} of ${conduct.runs} runs`;
}
