/** Asks an admin whether operators may erase the disks of a scratch set, by typing its name. */

import { t } from "@lingui/core/macro";
import { Alert, Button, Checkbox, Group, List, Stack, Text, TextInput } from "@mantine/core";
import { useMutation } from "@tanstack/react-query";
import { useState } from "react";
import type { ScratchSet } from "@/api/types";
import { Dialog } from "@/components/Dialog";
import { ErrorNotice } from "@/components/Page";
import { submitted } from "@/components/submitted";
import { formatValue } from "@/lib/units";
import { enableSet } from "./queries";

type Disk = ScratchSet["disks"][number];

export default function EnableDialog({ set, onClose }: { set: ScratchSet; onClose: () => void }) {
  const enable = useMutation(enableSet);
  const [typed, setTyped] = useState("");
  const submit = submitted((text) => {
    const wanted = {
      name: typed,
      disks_sha256: set.disks_sha256,
      target_name: text("target"),
      allows_schedules: text("schedules") === "on",
      allows_tokens: text("tokens") === "on",
    };
    enable.mutate({ setId: set.id, wanted }, { onSuccess: onClose });
  });
  return (
    <Dialog onClose={onClose} size="lg" title={t`Enable scratch set ${set.name} of ${set.node_name}?`}>
      <form aria-label={t`Enable ${set.name}`} onSubmit={submit}>
        <Stack gap="sm">
          <Alert color="red" title={t`Campaigns may erase these disks at any time`}>
            <List size="sm">
              {set.disks.map((disk) => (
                <List.Item key={disk.id}>{described(disk)}</List.Item>
              ))}
            </List>
          </Alert>
          <Text size="sm">
            {t`Each operator of the cluster may start such campaigns without another question. If a disk is added or replaced, an admin has to enable the set again.`}
          </Text>
          <TextInput
            defaultValue={set.suggested_target}
            description={t`Its runs measure what a campaign makes on these disks.`}
            label={t`Target`}
            maxLength={63}
            name="target"
            required
          />
          <Checkbox label={t`Schedules may erase these disks, too`} name="schedules" />
          <Checkbox label={t`API tokens may erase these disks, too`} name="tokens" />
          <TextInput
            autoComplete="off"
            data-autofocus
            label={t`Type ${set.name} to confirm`}
            onChange={({ currentTarget }) => setTyped(currentTarget.value)}
            value={typed}
          />
          {enable.error && <ErrorNotice error={enable.error} />}
          <Group justify="flex-end">
            <Button onClick={onClose} variant="default">{t`Cancel`}</Button>
            <Button color="red" disabled={typed !== set.name} loading={enable.isPending} type="submit">
              {t`Enable scratch set`}
            </Button>
          </Group>
        </Stack>
      </form>
    </Dialog>
  );
}

function described({ serial, wwn, bay, model, size_bytes: size, adopted_by: by }: Disk): string {
  const parts = [bay && t`bay ${bay}`, model, formatValue(size, "bytes"), by && t`adopted by ${by}`];
  return `${serial ?? wwn} (${parts.filter(Boolean).join(", ")})`;
}
