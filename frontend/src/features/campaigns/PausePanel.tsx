/** A paused campaign: the operator's task, the mounts found on the nodes, and the confirmation. */

import { t } from "@lingui/core/macro";
import { Trans } from "@lingui/react/macro";
import { Alert, Button, Group, Stack, Text } from "@mantine/core";
import { useMutation, useQuery } from "@tanstack/react-query";
import type { Campaign, Pause } from "@/api/types";
import { ConfirmButton } from "@/components/buttons";
import { Detail } from "@/components/looks";
import { ErrorNotice, Loaded, Section } from "@/components/Page";
import { ScrollTable } from "@/components/ScrollTable";
import { useMay } from "@/components/session";
import { When } from "@/components/values";
import { confirmPause, pauseQuery, probePause } from "./queries";

type PausedMount = Pause["mounts"][number];

export function PausePanel({ campaign }: { campaign: Campaign }) {
  const query = useQuery(pauseQuery(campaign.id));
  return (
    <Loaded query={query}>
      {(pause) => (
        <Section
          description={t`Before stage ${pause.ordinal}, ${pause.variant}: change the servers, probe the nodes, and confirm the mounts found.`}
          title={t`Waiting for an operator`}
        >
          <Stack gap="sm">
            <Alert color="orange" style={{ whiteSpace: "pre-wrap" }}>
              {pause.pause}
            </Alert>
            <MountTable mounts={pause.mounts} />
            <Freshness pause={pause} />
            <Buttons campaign={campaign} pause={pause} />
          </Stack>
        </Section>
      )}
    </Loaded>
  );
}

function MountTable({ mounts }: { mounts: readonly PausedMount[] }) {
  return (
    <ScrollTable head={[t`Target`, t`Node`, t`Before`, t`Now`]} label={t`Mounts of the targets`}>
      {mounts.map((mount) => (
        <tr key={`${mount.target} ${mount.node}`}>
          <td>
            {mount.target}
            {mount.is_backing && <Detail>{t`backing target`}</Detail>}
          </td>
          <td>{mount.node}</td>
          <td className="iotide-wrap">{described(mount.was)}</td>
          <td className="iotide-wrap">
            {mount.now ? described(mount.now) : t`not mounted`}{" "}
            <Text c={mount.problem ? "red" : "dimmed"} size="xs">
              {mount.problem ?? (mount.is_change ? t`changed` : t`unchanged`)}
            </Text>
          </td>
        </tr>
      ))}
    </ScrollTable>
  );
}

function described({ fstype, source, mount_options: options }: PausedMount["was"]): string {
  return t`${fstype} from ${source}, ${options}`;
}

function Freshness({ pause: { looked_at: lookedAt, waiting_for: waitingFor } }: { pause: Pause }) {
  if (lookedAt === null) return <Text size="sm">{t`The nodes have not been probed yet.`}</Text>;
  return (
    <Text aria-live="polite" size="sm">
      <Trans>
        {" "}
        Probe requested <When at={lookedAt} />
        {waitingFor.length > 0 ? t`; waiting for ${waitingFor.join(", ")}.` : t`; all nodes have answered.`}
      </Trans>
    </Text>
  );
}

function Buttons({ campaign, pause }: { campaign: Campaign; pause: Pause }) {
  const look = useMutation(probePause);
  const confirm = useMutation(confirmPause);
  const error = look.error ?? confirm.error;
  if (!useMay("operator", campaign.cluster_id)) return null;
  const isReady = pause.waiting_for.length === 0 && pause.mounts.every(({ problem }) => problem === null);
  return (
    <>
      {error && <ErrorNotice error={error} />}
      <Group>
        <Button
          loading={look.isPending}
          onClick={() => look.mutate(campaign.id)}
          variant="default"
        >{t`Probe nodes`}</Button>
        <ConfirmButton
          disabled={!isReady}
          isSafe
          loading={confirm.isPending}
          onConfirm={() => confirm.mutate({ campaignId: campaign.id, found: pause.found_sha256 })}
          title={t`Start stage ${pause.ordinal}, ${pause.variant}?`}
          body={<Question pause={pause} />}
          yes={t`Accept and start`}
          no={t`Not yet`}
        >{t`Confirm`}</ConfirmButton>
      </Group>
    </>
  );
}

/** Lists the changed mounts, which will apply to all campaigns on these targets. */
function Question({ pause }: { pause: Pause }) {
  const changed = pause.mounts.filter(({ is_change }) => is_change);
  if (changed.length === 0) return t`All mounts are unchanged.`;
  return changed.map(({ target, node, was, now }) => (
    <Text key={`${target} ${node}`} size="sm">
      <Trans>
        {target} on {node} was {was.fstype} from {was.source} and is now{" "}
        {now ? t`${now.fstype} from ${now.source}` : t`not mounted`}. Use it for all campaigns?
      </Trans>
    </Text>
  ));
}
