/** Lets all failed runs of a campaign wait again, after saying how many they are. */

import { t } from "@lingui/core/macro";
import type { Campaign } from "@/api/types";
import { ConfirmMutation } from "@/components/buttons";
import { useMayRun } from "@/components/session";
import { retryFailed } from "./queries";

export function RetryFailed({ campaign }: { campaign: Campaign }) {
  const count = campaign.counts.failed;
  if (!useMayRun(campaign.cluster_id) || count === 0) return null;
  return (
    <ConfirmMutation
      title={t`Run the failed runs again?`}
      body={t`${count} runs failed. Each waits in line for one more attempt; what it measured before stays in its log.`}
      yes={t`Run ${count} again`}
      no={t`Leave them`}
      size="compact-xs"
      variant="default"
      mutation={retryFailed}
      variables={campaign.id}
    >{t`Run all failed again`}</ConfirmMutation>
  );
}
