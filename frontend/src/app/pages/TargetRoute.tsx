/** /targets/ID: state and trends of a target, then advice, its runs and facts. */

import { t } from "@lingui/core/macro";
import { getRouteApi } from "@tanstack/react-router";
import { lazy, Suspense } from "react";
import { EventHistory } from "@/components/events/EventHistory";
import { ButtonLink } from "@/components/links";
import { OutlierNote } from "@/features/overview/OutlierNote";
import { LastRunNote } from "@/features/runs/LastRunNote";
import { LastRuns } from "@/features/runs/LastRuns";
import { TargetPage } from "@/features/targets/TargetPage";
import { SubjectStatus } from "@/features/trends/SubjectStatus";
import { SubjectTrends } from "@/features/trends/SubjectTrends";
import { ClusterTitles } from "./ClusterTitles";

const TargetAdvice = lazy(() => import("@/features/advice/TargetAdvice"));
const route = getRouteApi("/shell/targets/$targetId");

export default function TargetRoute() {
  const { targetId } = route.useParams();
  const subject = { target_id: targetId };
  return (
    <TargetPage
      advice={
        <Suspense>
          <TargetAdvice targetId={targetId} />
        </Suspense>
      }
      history={<EventHistory subject={subject} />}
      key={targetId}
      links={({ cluster_id }) => (
        <ButtonLink
          search={{ cluster: cluster_id }}
          size="xs"
          to="/peers"
          variant="default"
        >{t`Peers`}</ButtonLink>
      )}
      runs={<LastRuns targetId={targetId} />}
      status={({ cluster_id }) => (
        <>
          <SubjectStatus clusterId={cluster_id} subject={subject} />
          <OutlierNote targetId={targetId} />
          <LastRunNote targetId={targetId} />
        </>
      )}
      targetId={targetId}
      trends={({ cluster_id }) => (
        <ClusterTitles clusterId={cluster_id}>
          <SubjectTrends clusterId={cluster_id} subject={subject} />
        </ClusterTitles>
      )}
    />
  );
}
