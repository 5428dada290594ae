/** How far a node's clock is off, how old its credentials are, and what an administrator can do about them. */

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
  if (clock === null) return <>{t`unknown: its agent does not say`}</>;
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
          {t`More than a second off: synchronise it and the server, for instance with chrony.`}
        </Text>
      )}
    </>
  );
}

export function CredentialsAge({ node }: { node: Node }) {
  return (
    <>
      <Trans>
        given <When at={node.credentials_at} />
      </Trans>
      {node.rotation_wanted_at && (
        <Hint>
          <Trans>
            New ones are wanted since <When at={node.rotation_wanted_at} />: it takes them with its next beat.
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
      title={t`Give ${node.name} new credentials?`}
      body={t`With its next beat it gets a new token and a new Redis password. The old ones stay good until it keeps the new, then they are void. Runs go on.`}
      yes={t`Rotate`}
      no={t`Keep them`}
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
                    For a host that lost its disk, was replaced or was revoked. Whoever runs this until{" "}
                    <When at={create.data.expires_at} /> is {node.name} from then on, with its history; what
                    it had before is void then. It is refused while a load may run there.
                  </Trans>
                </Text>
                <Command label={t`Copy the enrol command`} text={create.data.command} />
              </>
            )}
          </Stack>
        </Dialog>
      )}
    </>
  );
}
