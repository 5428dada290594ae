import { t } from "@lingui/core/macro";
import { Button, Checkbox, Group, NativeSelect, Stack, TextInput } from "@mantine/core";
import { useMutation } from "@tanstack/react-query";
import { type FormEvent, useState } from "react";
import type { Channel } from "@/api/types";
import { ErrorNotice } from "@/components/Page";
import { TimeZoneSelect } from "@/components/TimeZoneSelect";
import { shownTimeZone, WEEKDAYS } from "@/lib/time";
import { channelEntered, KINDS, type Kind } from "./entered";
import { saveChannel } from "./queries";
import { ReceiverFields } from "./ReceiverFields";

export interface Scope {
  /** Cluster id; empty for all clusters. */
  readonly value: string;
  readonly label: string;
}

interface ChannelFormProps {
  /** Undefined: a new channel. */
  readonly channel?: Channel;
  readonly scopes: readonly Scope[];
  readonly onDone: () => void;
}

export default function ChannelForm({ channel, scopes, onDone }: ChannelFormProps) {
  const save = useMutation(saveChannel);
  const [kind, setKind] = useState<Kind>(channel?.receiver.kind ?? "email");
  const [quietZone, setQuietZone] = useState(channel?.quiet_hours?.time_zone);
  const [digestZone, setDigestZone] = useState(channel?.digest?.time_zone);
  function submit(event: FormEvent<HTMLFormElement>): void {
    event.preventDefault();
    const body = channelEntered(new FormData(event.currentTarget), kind, { quietZone, digestZone });
    save.mutate({ body, channelId: channel?.id }, { onSuccess: onDone });
  }
  return (
    <form aria-label={channel ? t`Change ${channel.name}` : t`New channel`} onSubmit={submit}>
      <Stack gap="sm" maw={720}>
        {save.error && <ErrorNotice error={save.error} />}
        <Group align="flex-end">
          <TextInput
            defaultValue={channel?.name}
            label={t`Name`}
            name="name"
            placeholder={t`storage-team`}
            required
          />
          <NativeSelect
            data={Object.entries(KINDS).map(([value, label]) => ({ value, label }))}
            label={t`Kind`}
            onChange={(event) => setKind(event.currentTarget.value as Kind)}
            value={kind}
          />
          {!channel && <NativeSelect data={[...scopes]} label={t`Clusters`} name="cluster" />}
        </Group>
        <ReceiverFields key={kind} kind={kind} receiver={channel?.receiver} />
        <QuietFields hours={channel?.quiet_hours ?? null} onZone={setQuietZone} zone={quietZone} />
        <DigestFields digest={channel?.digest ?? null} onZone={setDigestZone} zone={digestZone} />
        <Group>
          <Button loading={save.isPending} type="submit">
            {channel ? t`Save` : t`Create channel`}
          </Button>
          <Button onClick={onDone} variant="default">{t`Cancel`}</Button>
        </Group>
      </Stack>
    </form>
  );
}

interface ZoneProps {
  /** Time zone; undefined if switched off. */
  readonly zone: string | undefined;
  readonly onZone: (zone: string | undefined) => void;
}

function QuietFields({ hours, zone, onZone }: ZoneProps & { hours: Channel["quiet_hours"] }) {
  return (
    <>
      <Checkbox
        checked={zone !== undefined}
        label={t`Quiet hours: hold messages until they end`}
        onChange={(event) => onZone(event.currentTarget.checked ? shownTimeZone() : undefined)}
      />
      {zone !== undefined && (
        <Group align="flex-end">
          <TextInput
            defaultValue={hours?.from ?? "22:00"}
            label={t`Quiet from`}
            name="quiet_from"
            required
            type="time"
          />
          <TextInput
            defaultValue={hours?.until ?? "07:00"}
            label={t`Quiet until`}
            name="quiet_until"
            required
            type="time"
          />
          <TimeZoneSelect onChange={onZone} value={zone} />
        </Group>
      )}
    </>
  );
}

function DigestFields({ digest, zone, onZone }: ZoneProps & { digest: Channel["digest"] }) {
  return (
    <>
      <Checkbox
        checked={zone !== undefined}
        label={t`Weekly digest for each cluster`}
        onChange={(event) => onZone(event.currentTarget.checked ? shownTimeZone() : undefined)}
      />
      {zone !== undefined && (
        <Group align="flex-end">
          <NativeSelect
            data={[...WEEKDAYS]}
            defaultValue={digest?.weekday}
            label={t`Weekday`}
            name="weekday"
          />
          <TextInput
            defaultValue={digest?.hour ?? 8}
            label={t`Hour`}
            max={23}
            min={0}
            name="hour"
            required
            type="number"
            w={90}
          />
          <TimeZoneSelect onChange={onZone} value={zone} />
        </Group>
      )}
    </>
  );
}
