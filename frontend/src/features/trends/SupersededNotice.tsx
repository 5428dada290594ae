import { t } from "@lingui/core/macro";
import { Alert } from "@mantine/core";
import { useQueries } from "@tanstack/react-query";
import type { Series } from "@/api/types";
import { useTitlesOf } from "@/components/optionTitles";
import { describeValues } from "@/lib/options";
import { MAX_TRACES } from "@/plots/figure";
import type { Span } from "@/plots/timeAxis";
import { pointsQuery } from "./queries";

interface SupersededNoticeProps {
  readonly listed: readonly Series[];
  readonly wanted: readonly number[] | undefined;
  readonly span: Span;
}

/** Explains why series in the address are not drawn. */
export function SupersededNotice({ listed, wanted = [], span }: SupersededNoticeProps) {
  const unlisted = wanted.filter((id) => !listed.some((series) => series.id === id)).slice(0, MAX_TRACES);
  const found = useQueries({ queries: unlisted.map((id) => pointsQuery(id, span)) });
  const titlesOf = useTitlesOf();
  return found.map(({ data }) => {
    if (data?.series.superseded == null) return null;
    const { id, title, labels, workload, superseded } = data.series;
    const name = [title, describeValues(labels, titlesOf(workload))].filter(Boolean).join(", ");
    return (
      <Alert color="orange" key={id} title={t`${name}: superseded`}>
        {superseded}
      </Alert>
    );
  });
}
