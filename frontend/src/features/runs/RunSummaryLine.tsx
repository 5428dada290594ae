/** The first line of a run's page: what it measured, and how far to trust it. */

import { t } from "@lingui/core/macro";
import { Text } from "@mantine/core";
import type { RunDetail } from "@/api/types";
import { elapsedSeconds } from "@/lib/time";
import { formatDuration, formatFactor, formatValue } from "@/lib/units";
import { type Io500, io500Of } from "./io500";
import { summaryOf } from "./summary";

export function RunSummaryLine({ run }: { run: RunDetail }) {
  const io500 = io500Of(run);
  const { measured, cautions } = io500?.score ? io500Words(io500) : summaryOf(run);
  const isRejected = run.state === "finished" && run.validity === "rejected";
  const doubts = [...(isRejected ? [t`excluded from all results`] : []), ...cautions];
  return (
    <Text component="p" fw={600} m={0} size="lg" style={{ overflowWrap: "anywhere" }}>
      {run.state === "finished" ? measured || t`Finished without a result` : stateWords(run, measured)}
      {doubts.length > 0 && (
        <Text c="var(--mantine-color-orange-light-color)" inherit span>
          {"; "}
          {doubts.join("; ")}
        </Text>
      )}
    </Text>
  );
}

/** The score and its means; the cautions of its phases are in the table. */
function io500Words({ score, bandwidth, metadata, reasons }: Io500) {
  const means = [bandwidth, metadata].flatMap((mean) => (mean ? [formatValue(mean.value, mean.unit)] : []));
  return {
    measured: t`IO500 score ${formatFactor(score?.value ?? 0)}: ${means.join(", ")}`,
    cautions: reasons.length > 0 ? [t`invalid by the rules of the IO500`] : [],
  };
}

/** The values of a run that did not complete cover a part of its work. */
function stateWords(run: RunDetail, measured: string): string {
  const { state, started_at: start, ended_at: end } = run;
  if (state === "waiting") return t`Waiting; nothing is measured yet`;
  if (state === "active") return t`Running; results appear when the run has finished`;
  const seconds = start && end ? elapsedSeconds(start, Date.parse(end)) : null;
  const ended = state === "failed" ? t`Failed` : t`Cancelled`;
  const after = seconds === null ? t`before it started` : t`after ${formatDuration(Math.round(seconds))}`;
  const what = measured ? t`the part that ran: ${measured}` : t`nothing was measured`;
  return `${ended} ${after}; ${what}`;
}
