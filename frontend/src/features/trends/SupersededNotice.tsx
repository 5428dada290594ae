/** Says why series of the address are not drawn: their numbers count no more. */

import { t } from "@lingui/core/macro";
import { Alert } from "@mantine/core";
import { useQueries } from "@tanstack/react-query";
import type { Series } from "@/api/types";
import { MAX_TRACES } from "@/plots/figure";
import { pointsQuery, type Span } from "./queries";

interface SupersededNoticeProps {
  readonly listed: readonly Series[];
  readonly wanted: readonly number[] | undefined;
  readonly span: Span;
}

export function SupersededNotice({ listed, wanted = [], span }: SupersededNoticeProps) {
  const unlisted = wanted.filter((id) => !listed.some((series) => series.id === id)).slice(0, MAX_TRACES);
  const found = useQueries({ queries: unlisted.map((id) => pointsQuery(id, span)) });
  return found.map(
    ({ data }) =>
      data?.series.superseded != null && (
        <Alert color="orange" key={data.series.id} title={t`${data.series.title}: superseded`}>
          {data.series.superseded}
        </Alert>
      ),
  );
}
