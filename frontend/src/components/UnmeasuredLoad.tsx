/** Warns about campaigns with runs whose other load was not measured: such a node need not have been idle. */

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

/** Return the number of runs without measured load, or null if there are none. */
export function unmeasuredWords(
  campaignId: number,
  conduct: Pick<Conduct, "runs" | "load_not_measured"> | undefined,
): string | null {
  if (!conduct || conduct.load_not_measured === 0) return null;
  return t`campaign ${campaignId}: ${conduct.load_not_measured} of ${conduct.runs} runs`;
}
