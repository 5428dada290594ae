/** Progress of a run. If the workload does not report progress, an empty track and the phase. */

import { t } from "@lingui/core/macro";
import { Progress } from "@mantine/core";

interface RunProgressProps {
  readonly runId: number;
  readonly progress: number | null;
  readonly phase: string | null;
}

export function RunProgress({ runId, progress, phase }: RunProgressProps) {
  const label = t`Progress of run ${runId}`;
  if (progress === null)
    return (
      <Progress.Root
        aria-label={label}
        aria-valuetext={phase || "unknown"}
        mt={4}
        role="progressbar"
        size="sm"
      />
    );
  return <Progress animated aria-label={label} mt={4} size="sm" value={progress * 100} />;
}
