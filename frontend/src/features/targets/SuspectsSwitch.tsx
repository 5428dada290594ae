/** Whether iotide measures a target again by itself where its newest runs look as if something had changed. */

import { t } from "@lingui/core/macro";
import { Stack, Switch } from "@mantine/core";
import { useMutation } from "@tanstack/react-query";
import type { Target } from "@/api/types";
import { ErrorNotice } from "@/components/ErrorNotice";
import { useMay } from "@/components/session";
import { setSuspects } from "./queries";

export function SuspectsSwitch({ target }: { target: Target }) {
  const change = useMutation(setSuspects);
  const mayChange = useMay("operator", target.cluster_id) && !target.retired_at;
  return (
    <Stack gap="xs">
      <Switch
        checked={target.confirms_suspects}
        description={t`Three runs of the same cell at once, at most once a day each; their campaign is called confirm-… and says why.`}
        disabled={!mayChange || change.isPending}
        label={t`Look again when a change is suspected`}
        onChange={({ currentTarget }) =>
          change.mutate({ targetId: target.id, confirms: currentTarget.checked })
        }
      />
      {change.error && <ErrorNotice error={change.error} />}
    </Stack>
  );
}
