/** /compare/report: what /compare shows, as a printable page. The address has the same parameters. */

import { t } from "@lingui/core/macro";
import { useQuery } from "@tanstack/react-query";
import { getRouteApi } from "@tanstack/react-router";
import { ButtonLink } from "@/components/links";
import { Page } from "@/components/Page";
import { campaignQuery } from "@/features/campaigns/queries";
import { PairReport, SidesReport } from "@/features/comparison/report/ComparisonReport";
import { ClusterTitles } from "./ClusterTitles";

const route = getRouteApi("/shell/compare/report");

export default function CompareReportRoute() {
  const search = route.useSearch();
  const { a, b, a_cell: aCell, b_cell: bCell, campaigns = [], cells = [], by, against, metric } = search;
  const first = a ?? campaigns[0];
  const { data: campaign } = useQuery({ ...campaignQuery(first ?? 0), enabled: first !== undefined });
  const back = (
    <ButtonLink search={search} to="/compare" variant="default">{t`Back to comparison`}</ButtonLink>
  );
  const isOfMany = campaigns.length + cells.length > 0;
  return (
    <ClusterTitles clusterId={campaign?.cluster_id}>
      {isOfMany && (
        <SidesReport
          back={back}
          many={{ campaigns: cells.length > 0 ? [] : campaigns, cells, by, against }}
          metric={metric}
        />
      )}
      {!isOfMany && a !== undefined && b !== undefined && (
        <PairReport back={back} metric={metric} sides={{ a, b, aCell, bCell }} />
      )}
      {!isOfMany && (a === undefined || b === undefined) && (
        <Page actions={back} title={t`Report of a comparison`}>
          {t`Choose what to compare first.`}
        </Page>
      )}
    </ClusterTitles>
  );
}
