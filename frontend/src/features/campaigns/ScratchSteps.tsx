/** File systems that a campaign makes on scratch disks, step by step, with the runs that made them. */

import { t } from "@lingui/core/macro";
import { Alert, Badge, List, Stack, Text } from "@mantine/core";
import type { Campaign } from "@/api/types";
import { Fold } from "@/components/Fold";
import { RunLink } from "@/components/links";
import { Detail, Hint } from "@/components/looks";
import { Row, ScrollTable } from "@/components/ScrollTable";
import { isOpen } from "./CampaignProgress";
import { type ScratchStep, STEP_WORDS, stepsOf } from "./scratchSteps";

export function ScratchSteps({ campaign }: { campaign: Campaign }) {
  const steps = stepsOf(campaign.stages);
  if (steps.length === 0) return null;
  const failed = steps.filter(({ stage }) => stage.run_state === "failed");
  return (
    <Fold
      isOpenAtFirst={isOpen(campaign) || failed.length > 0}
      summary={summaryOf(steps)}
      title={t`Scratch disks`}
    >
      <Stack gap="sm">
        {campaign.plan?.scratch?.rounds === 1 && (
          <Hint>{t`One make each: all repeats on a file system share one allocation of its blocks.`}</Hint>
        )}
        {failed.length > 0 && <Failures failed={failed} />}
        <StepTable steps={steps} />
      </Stack>
    </Fold>
  );
}

function summaryOf(steps: readonly ScratchStep[]): string {
  const makes = steps.filter(({ stage }) => stage.does === "make");
  const made = makes.filter(({ stage }) => stage.run_state === "finished").length;
  const last = steps.at(-1);
  const parts = [t`${made} of ${makes.length} makes finished`];
  if (last?.stage.does === "clean" && last.state !== "later") parts.push(STEP_WORDS[last.state].word);
  return parts.join(", ");
}

function Failures({ failed }: { failed: readonly ScratchStep[] }) {
  return (
    <Alert color="red" title={t`Failed on the scratch disks`}>
      <List size="sm">
        {failed.map((step) => (
          <List.Item key={step.stage.ordinal}>{failureOf(step)}</List.Item>
        ))}
      </List>
    </Alert>
  );
}

function failureOf({ stage, measured }: ScratchStep): string {
  if (!measured)
    return t`The disks were not cleaned. The page of their node says why. Retry the run of the cleaning after that.`;
  const { cancelled } = measured;
  const failed = failedWork(stage);
  if (cancelled === 0) return `${failed}.`;
  return cancelled === 1
    ? t`${failed}; 1 run on it was cancelled.`
    : t`${failed}; ${cancelled} runs on it were cancelled.`;
}

function failedWork({ does, variant }: ScratchStep["stage"]): string {
  if (does === "mount") return t`${variant} was not mounted on the clients`;
  return does === "fill" ? t`${variant} was not filled` : t`${variant} was not made`;
}

function StepTable({ steps }: { steps: readonly ScratchStep[] }) {
  const hasRounds = steps.some(({ round }) => round > 1);
  return (
    <ScrollTable
      head={[t`File system`, t`State`, t`Runs on it`, t`Raw output`]}
      label={t`Steps on the scratch disks`}
      maxHeight={420}
    >
      {steps.map(({ stage, measured, round, state }) => (
        <Row key={stage.ordinal}>
          <td className="iotide-wrap">
            {nameOf(stage)}
            {stage.does === "make" && hasRounds && <Detail>{t`round ${round}`}</Detail>}
          </td>
          <Badge color={STEP_WORDS[state].color} miw="max-content">
            {STEP_WORDS[state].word}
          </Badge>
          {measured && stage.does === "make" ? <Text size="sm">{runsOf(measured)}</Text> : ""}
          {stage.run_id === null ? (
            ""
          ) : (
            <RunLink id={stage.run_id} name={t`run ${stage.run_id}`} underline="always" />
          )}
        </Row>
      ))}
    </ScrollTable>
  );
}

function nameOf({ does, variant }: ScratchStep["stage"]): string {
  if (does === "clean") return t`Clean the disks`;
  if (does === "mount") return t`Mount on the clients`;
  return does === "fill" ? t`Fill ${variant}` : variant;
}

function runsOf({ runs, ended, failed, cancelled }: NonNullable<ScratchStep["measured"]>): string {
  return [
    t`${ended} of ${runs} ended`,
    ...(failed === 0 ? [] : [t`${failed} failed`]),
    ...(cancelled === 0 ? [] : [t`${cancelled} cancelled`]),
  ].join(", ");
}
