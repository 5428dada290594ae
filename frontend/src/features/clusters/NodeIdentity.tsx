import { t } from "@lingui/core/macro";
import { Trans } from "@lingui/react/macro";
import { Button, Stack, Text } from "@mantine/core";
import { useMutation } from "@tanstack/react-query";
import { lazy } from "react";
import type { Node } from "@/api/types";
import { ConfirmMutation } from "@/components/buttons";
import { Command } from "@/components/Command";
import { Dialog } from "@/components/Dialog";
import { Hint } from "@/components/looks";
import { ErrorNotice } from "@/components/Page";
import { useMay } from "@/components/session";
import { When } from "@/components/values";
import { formatValue } from "@/lib/units";
import { DecisionButton } from "./NodeDecisionButtons";
import { createReenrolmentToken, rotateNode } from "./queries";

const RevokeModal = lazy(() => import("./RevokeModal"));

export function ClockOffset({ clock }: { clock: Node["clock"] }) {
  if (clock === null) return <>{t`not reported by the agent`}</>;
  const offset = formatValue(Math.abs(clock.offset_seconds), "seconds");
  const uncertainty = formatValue(clock.uncertainty_seconds, "seconds");
  const isAhead = clock.offset_seconds >= 0;
  return (
    <>
      {isAhead
        ? t`${offset} ahead of the server, ± ${uncertainty}`
        : t`${offset} behind the server, ± ${uncertainty}`}
      {clock.is_off && (
        <Text c="var(--mantine-color-error)" size="sm">
          {t`More than one second off. Synchronise the node and the server, for example with chrony.`}
        </Text>
      )}
    </>
  );
}

export function CredentialsAge({ node }: { node: Node }) {
  return (
    <>
      <Trans>
        issued <When at={node.credentials_at} />
      </Trans>
      {node.rotation_wanted_at && (
        <Hint>
          <Trans>
            Rotation requested <When at={node.rotation_wanted_at} />. The agent gets new credentials with its
            next heartbeat.
          </Trans>
        </Hint>
      )}
    </>
  );
}

export function IdentityButtons({ node }: { node: Node }) {
  const mayChange = useMay("admin", node.cluster_id);
  if (!mayChange) return null;
  return (
    <>
      {node.state !== "revoked" && <RotateButton node={node} />}
      <EnrolAgainButton node={node} />
      {node.state !== "revoked" && <DecisionButton label={t`Revoke`} modal={RevokeModal} node={node} />}
    </>
  );
}

function RotateButton({ node }: { node: Node }) {
  return (
    <ConfirmMutation
      color="blue"
      disabled={node.rotation_wanted_at !== null}
      title={t`Rotate the credentials of ${node.name}?`}
      body={t`The agent gets a new token and a new Redis password with its next heartbeat. The old ones stay valid until the agent has stored the new ones. Runs continue.`}
      yes={t`Rotate credentials`}
      no={t`Cancel`}
      size="xs"
      variant="default"
      mutation={rotateNode}
      variables={node.id}
    >{t`Rotate`}</ConfirmMutation>
  );
}

function EnrolAgainButton({ node }: { node: Node }) {
  const create = useMutation(createReenrolmentToken);
  return (
    <>
      <Button
        loading={create.isPending}
        onClick={() => create.mutate(node.id)}
        size="xs"
        variant="default"
      >{t`Enrol again`}</Button>
      {(create.data || create.error) && (
        <Dialog onClose={create.reset} size="lg" title={t`Enrol the host of ${node.name} again`}>
          <Stack gap="sm">
            {create.error && <ErrorNotice error={create.error} />}
            {create.data && (
              <>
                <Text size="sm">
                  <Trans>
                    Use this command if the host lost its disk, was replaced or was revoked. The host that
                    runs it before <When at={create.data.expires_at} /> becomes {node.name} and keeps its
                    history. The old credentials become invalid. Enrolment is refused while a run may be
                    active on the node.
                  </Trans>
                </Text>
                <Command label={t`Copy enrol command`} text={create.data.command} />
              </>
            )}
          </Stack>
        </Dialog>
      )}
    </>
  );
}
