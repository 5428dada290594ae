/** Creates the command that enrols a node's host again. */

import { t } from "@lingui/core/macro";
import { Trans } from "@lingui/react/macro";
import { Button, Group, Stack, Text } from "@mantine/core";
import { useMutation } from "@tanstack/react-query";
import type { Node } from "@/api/types";
import { Command } from "@/components/Command";
import { Dialog } from "@/components/Dialog";
import { ErrorNotice } from "@/components/Page";
import { When } from "@/components/values";
import { createReenrolmentToken } from "./queries";

export default function EnrolAgainModal({ node, onClose }: { node: Node; onClose: () => void }) {
  const create = useMutation(createReenrolmentToken);
  return (
    <Dialog onClose={onClose} size="lg" title={t`Enrol the host of ${node.name} again`}>
      <Stack gap="sm">
        <Text size="sm">
          <Trans>
            Use this if the host lost its disk, was replaced or was revoked. The host that runs the command
            becomes {node.name} and keeps its history. The old credentials become invalid. Enrolment is
            refused while a run may be active on the node.
          </Trans>
        </Text>
        {create.error && <ErrorNotice error={create.error} />}
        {create.data ? (
          <>
            <Text size="sm">
              <Trans>
                Run it on the host before <When at={create.data.expires_at} />.
              </Trans>
            </Text>
            <Command label={t`Copy enrol command`} text={create.data.command} />
          </>
        ) : (
          <Group justify="flex-end">
            <Button onClick={onClose} variant="default">{t`Cancel`}</Button>
            <Button
              loading={create.isPending}
              onClick={() => create.mutate(node.id)}
            >{t`Create enrol command`}</Button>
          </Group>
        )}
      </Stack>
    </Dialog>
  );
}
