/** Why a run waits, and when it is expected to start. */

import { t } from "@lingui/core/macro";
import { Trans } from "@lingui/react/macro";
import { Alert, Text } from "@mantine/core";
import type { RunDetail } from "@/api/types";
import { When } from "@/components/When";

type Waiting = Pick<RunDetail, "waiting_because" | "expected_start_at" | "expected_start_unknown_because">;

export function WaitNotice({ run }: { run: Waiting }) {
  return (
    <Alert color="gray" title={t`Why it waits`} variant="light">
      {run.waiting_because}
      <Text c="dimmed" mt={4} size="sm">
        <ExpectedStart run={run} />
      </Text>
    </Alert>
  );
}

function ExpectedStart({ run }: { run: Waiting }) {
  if (run.expected_start_at)
    return (
      <Trans>
        Expected to start: <When at={run.expected_start_at} />, if the runs before it take as long as those
        like them did.
      </Trans>
    );
  if (!run.expected_start_unknown_because) return null;
  return <Trans>When it starts cannot be foreseen: {run.expected_start_unknown_because}</Trans>;
}
