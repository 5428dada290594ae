/** Mutes the series of an alert for a time: alerts are raised and shown, and nobody is told. */

import { t } from "@lingui/core/macro";
import { Button, Group, Stack, Text, TextInput } from "@mantine/core";
import { useMutation } from "@tanstack/react-query";
import type { FormEvent } from "react";
import type { Alert } from "@/api/types";
import { ErrorNotice, Section } from "@/components/Page";
import { useMay } from "@/components/session";
import { formatExactTime, fromLocalTime, shownTimeZone } from "@/lib/time";
import { muteAlert } from "./queries";

export function MuteForm({ alert }: { alert: Alert }) {
  const mute = useMutation(muteAlert);
  const until = alert.series.muted_until;
  if (!useMay("operator", alert.cluster_id)) return null;
  function submit(event: FormEvent<HTMLFormElement>): void {
    event.preventDefault();
    const entered = String(new FormData(event.currentTarget).get("until"));
    mute.mutate({ alertId: alert.id, until: fromLocalTime(entered) });
  }
  return (
    <Section
      description={t`Nobody is told of this series before then. Its alerts are raised and shown all the same.`}
      title={t`Mute`}
    >
      <form aria-label={t`Mute the series`} onSubmit={submit}>
        <Stack gap="sm">
          {mute.error && <ErrorNotice error={mute.error} />}
          {until && <Text size="sm">{t`Muted until ${formatExactTime(until)}.`}</Text>}
          <Group align="flex-end">
            <TextInput label={t`Until (${shownTimeZone()})`} name="until" required type="datetime-local" />
            <Button loading={mute.isPending} type="submit" variant="default">{t`Mute the series`}</Button>
            {until && (
              <Button
                onClick={() => mute.mutate({ alertId: alert.id, until: null })}
                variant="subtle"
              >{t`Unmute`}</Button>
            )}
          </Group>
        </Stack>
      </form>
    </Section>
  );
}
