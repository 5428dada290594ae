/** Lets a side of a comparison that has too few runs be run again. */

import { t } from "@lingui/core/macro";
import { Button } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { lazy, Suspense, useState } from "react";
import { useMayRun, useMaySomewhere } from "@/components/session";
import { campaignQuery } from "@/features/campaigns/queries";

const AddRepeats = lazy(() => import("@/features/campaigns/AddRepeats"));

interface RepeatSideProps {
  readonly cell: { readonly campaign_id: number; readonly cell_id: number };
  /** Runs that it lacks for an interval. */
  readonly missing: number;
}

export function RepeatSide({ cell: { campaign_id, cell_id }, missing }: RepeatSideProps) {
  const [isAsking, setIsAsking] = useState(false);
  const { data: campaign } = useQuery({
    ...campaignQuery(campaign_id),
    enabled: useMaySomewhere("operator"),
  });
  const mayAdd = useMayRun(campaign?.cluster_id ?? 0);
  if (!campaign || !mayAdd) return null;
  return (
    <>
      <Button mt={4} onClick={() => setIsAsking(true)} size="compact-xs" variant="default">
        {t`Add repeats, ${missing} missing`}
      </Button>
      <Suspense>
        {isAsking && (
          <AddRepeats campaign={campaign} cellIds={[cell_id]} onClose={() => setIsAsking(false)} />
        )}
      </Suspense>
    </>
  );
}
