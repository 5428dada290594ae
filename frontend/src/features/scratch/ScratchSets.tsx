/** Scratch sets on a node's page: groups of disks that iotide may erase once an admin enables them. */

import { t } from "@lingui/core/macro";
import { Trans } from "@lingui/react/macro";
import { Alert, Badge, Button, Group, List, Stack, Text, Title } from "@mantine/core";
import { useMutation, useQuery } from "@tanstack/react-query";
import { lazy } from "react";
import type { ScratchSet } from "@/api/types";
import { ConfirmMutation, DialogButton } from "@/components/buttons";
import { Command } from "@/components/Command";
import { Fold } from "@/components/Fold";
import { RunLink, TargetLink } from "@/components/links";
import { Hint } from "@/components/looks";
import { useOrigin } from "@/components/Origin";
import { ErrorNotice } from "@/components/Page";
import { Row, ScrollTable } from "@/components/ScrollTable";
import { useMay } from "@/components/session";
import { Day, Quantity, When } from "@/components/values";
import { cleanAgain, disableSet, scratchSetsQuery } from "./queries";
import { PERMISSIONS, remedyOf, STATES } from "./words";

const EnableDialog = lazy(() => import("./EnableDialog"));
const ADOPT = "sudo iotide-agent scratch adopt wwn-0x5000c500a1b2c3d4";

interface ScratchSetsProps {
  readonly clusterId: number;
  readonly nodeId: number;
  /** The node no longer answers, so the states may be of the past. */
  readonly isSilent: boolean;
}

export function ScratchSets({ clusterId, nodeId, isSilent }: ScratchSetsProps) {
  const isOwn = useOrigin(clusterId) === "own";
  const sets = useQuery({ ...scratchSetsQuery(nodeId), enabled: isOwn });
  if (sets.error && !sets.data) return <ErrorNotice error={sets.error} onRetry={sets.refetch} />;
  if (!isOwn || !sets.data) return null;
  return (
    <Fold isOpenAtFirst={sets.data.length > 0} summary={summaryOf(sets.data)} title={t`Scratch sets`}>
      {sets.data.length === 0 ? (
        <NoSets />
      ) : (
        sets.data.map((set) => <OneSet isSilent={isSilent} key={set.id} set={set} />)
      )}
    </Fold>
  );
}

function summaryOf(sets: readonly ScratchSet[]): string {
  if (sets.length === 0) return t`none`;
  const notCleaned = sets.filter(({ state }) => state === "dirty").length;
  const all = sets.length === 1 ? t`1 set` : t`${sets.length} sets`;
  return notCleaned > 0 ? t`${all}, ${notCleaned} not cleaned` : all;
}

function NoSets() {
  return (
    <Stack gap="xs">
      <Text size="sm">
        {t`Campaigns can make RAID layouts and file systems on disks of this node. List the disks of a set in /etc/iotide/scratch.toml on the node, then adopt each of them there as root. All data on an adopted disk is lost.`}
      </Text>
      <Command label={t`Copy the adopt command`} text={ADOPT} />
      <Hint>{t`“iotide-agent scratch list” names the disks of the node. Adopted ones appear here within ten minutes.`}</Hint>
    </Stack>
  );
}

function OneSet({ set, isSilent }: { set: ScratchSet; isSilent: boolean }) {
  const [state, permission] = [STATES[set.state], PERMISSIONS[set.permission]];
  return (
    <Stack component="section" gap="xs" mb="md" aria-label={t`Scratch set ${set.name}`}>
      <Group justify="space-between">
        <Group gap="xs">
          <Title order={3} size="h5">
            {set.name}
          </Title>
          <Badge color={isSilent ? "gray" : state.color} miw="max-content">
            {isSilent ? t`${state.word} when last announced` : state.word}
          </Badge>
          <Badge color={permission.color} miw="max-content" variant="outline">
            {permission.word}
          </Badge>
        </Group>
        <Decisions set={set} />
      </Group>
      <Facts set={set} />
      <Problems set={set} />
      {set.disks.length > 0 && <DiskTable set={set} />}
    </Stack>
  );
}

function Decisions({ set }: { set: ScratchSet }) {
  if (!useMay("admin", set.cluster_id)) return null;
  return (
    <Group gap="xs">
      {set.permission !== "enabled" && set.disks.length > 0 && (
        <DialogButton
          aria-label={t`Enable ${set.name}`}
          dialog={(onClose) => <EnableDialog onClose={onClose} set={set} />}
          size="xs"
          variant="default"
        >
          {set.permission === "changed" ? t`Enable again` : t`Enable`}
        </DialogButton>
      )}
      {set.enabled && (
        <ConfirmMutation
          aria-label={t`Disable ${set.name}`}
          body={t`Campaigns, schedules and API tokens can no longer erase its disks. Its target and all results stay.`}
          isSafe
          mutation={disableSet}
          no={t`Cancel`}
          size="xs"
          title={t`Disable scratch set ${set.name}?`}
          variables={set.id}
          variant="default"
          yes={t`Disable scratch set`}
        >{t`Disable`}</ConfirmMutation>
      )}
    </Group>
  );
}

function Facts({ set }: { set: ScratchSet }) {
  const { enabled, target, variant } = set;
  const also = [enabled?.allows_schedules && t`schedules`, enabled?.allows_tokens && t`API tokens`].filter(
    Boolean,
  );
  return (
    <Hint component="div">
      {variant && <div>{t`Made now: ${variant}`}</div>}
      <div>
        {set.last_used_at ? (
          <Trans>
            Last used <When at={set.last_used_at} />
          </Trans>
        ) : (
          t`Never used`
        )}
        {", "}
        <Trans>
          announced <When at={set.seen_at} />
        </Trans>
        {target && (
          <>
            {t`, target `}
            <TargetLink id={target.id} name={target.name} underline="always" />
          </>
        )}
      </div>
      {enabled && (
        <div>
          <Trans>
            Enabled <When at={enabled.at} /> by {enabled.by ?? t`an admin`}
          </Trans>
          {also.length > 0 && t`, also for ${also.join(t` and `)}`}
        </div>
      )}
    </Hint>
  );
}

function Problems({ set }: { set: ScratchSet }) {
  const remedy = remedyOf(set);
  return (
    <>
      {remedy && (
        <Alert color={STATES[set.state].color} title={capital(STATES[set.state].word)}>
          <Text size="sm">{set.reason}</Text>
          <Text mt={4} size="sm">
            {remedy}
          </Text>
          {set.state === "dirty" && set.failed_cleaning_run_id !== null && (
            <TryAgain runId={set.failed_cleaning_run_id} set={set} />
          )}
        </Alert>
      )}
      {set.permission === "changed" && (
        <Alert color="red" title={t`Changed since it was enabled`}>
          <List size="sm">
            {set.changes.map((change) => (
              <List.Item key={change}>{change}</List.Item>
            ))}
          </List>
          <Text mt={4} size="sm">{t`Nothing can use it until an admin enables it again.`}</Text>
        </Alert>
      )}
    </>
  );
}

function TryAgain({ set, runId }: { set: ScratchSet; runId: number }) {
  const again = useMutation(cleanAgain);
  const mayRun = useMay("operator", set.cluster_id);
  return (
    <Group gap="xs" mt="xs">
      {mayRun && (
        <Button
          aria-label={t`Clean ${set.name} again`}
          loading={again.isPending}
          onClick={() => again.mutate(runId)}
          size="compact-xs"
          variant="default"
        >{t`Try again`}</Button>
      )}
      <RunLink id={runId} name={t`run ${runId}`} underline="always" />
    </Group>
  );
}

function capital(word: string): string {
  return word.charAt(0).toUpperCase() + word.slice(1);
}

function DiskTable({ set }: { set: ScratchSet }) {
  return (
    <ScrollTable
      head={[t`Serial number`, t`Model`, t`Size`, t`Bay`, t`State`, t`Adopted`]}
      label={t`Disks of ${set.name}`}
    >
      {set.disks.map((disk) => (
        <Row key={disk.id}>
          <td className="iotide-name">{disk.serial ?? disk.wwn}</td>
          {disk.model}
          <Quantity unit="bytes" value={disk.size_bytes} />
          {disk.bay ?? t`unknown`}
          <Badge color={STATES[disk.state].color} miw="max-content">
            {STATES[disk.state].word}
          </Badge>
          <span>
            <Day at={disk.adopted_at} />
            {disk.adopted_by && t` by ${disk.adopted_by}`}
          </span>
        </Row>
      ))}
    </ScrollTable>
  );
}
