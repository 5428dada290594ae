/** Mutes the series of an alert for a time: alerts are raised and shown, and nobody is told. */

import { Button, Group, Stack, Text, TextInput } from "@mantine/core";
import { useMutation } from "@tanstack/react-query";
import type { FormEvent } from "react";
import type { Alert } from "@/api/types";
import { ErrorNotice } from "@/components/ErrorNotice";
import { Section } from "@/components/Page";
import { useMay } from "@/components/session";
import { formatExactTime, timeZone } from "@/lib/time";
import { muteAlert } from "./queries";

export function MuteForm({ alert }: { alert: Alert }) {
  const mute = useMutation(muteAlert);
  const until = alert.series.muted_until;
  if (!useMay("operator", alert.cluster_id)) return null;
  function submit(event: FormEvent<HTMLFormElement>): void {
    event.preventDefault();
    const entered = String(new FormData(event.currentTarget).get("until"));
    mute.mutate({ alertId: alert.id, until: new Date(entered).toISOString() });
  }
  return (
    <Section
      description="Nobody is told of this series before then. Its alerts are raised and shown all the same."
      title="Mute"
    >
      <form aria-label="Mute the series" onSubmit={submit}>
        <Stack gap="sm">
          {mute.error && <ErrorNotice error={mute.error} />}
          {until && <Text size="sm">Muted until {formatExactTime(until)}.</Text>}
          <Group align="flex-end">
            <TextInput label={`Until (${timeZone()})`} name="until" required type="datetime-local" />
            <Button loading={mute.isPending} type="submit" variant="default">
              Mute the series
            </Button>
            {until && (
              <Button onClick={() => mute.mutate({ alertId: alert.id, until: null })} variant="subtle">
                Unmute
              </Button>
            )}
          </Group>
        </Stack>
      </form>
    </Section>
  );
}
