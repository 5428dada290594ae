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
      title={t`Retry the failed runs?`}
      body={t`${count} runs failed. Each is queued for one more attempt. Earlier attempts stay in the log of the run.`}
      yes={t`Retry ${count} runs`}
      no={t`Cancel`}
      isSafe
      size="compact-xs"
      variant="default"
      mutation={retryFailed}
      variables={campaign.id}
    >{t`Retry failed runs`}</ConfirmMutation>
  );
}
