import { t } from "@lingui/core/macro";
import { Alert, Group, Stack, Text } from "@mantine/core";
import { useMutation, useQuery } from "@tanstack/react-query";
import { lazy, Suspense, useState } from "react";
import type { Channel } from "@/api/types";
import { AddButton, ConfirmMutation } from "@/components/buttons";
import { RowButton } from "@/components/looks";
import { ErrorNotice, Loaded, Section } from "@/components/Page";
import { ScrollTable } from "@/components/ScrollTable";
import { useMay } from "@/components/session";
import { When } from "@/components/values";
import type { Scope } from "./ChannelForm";
import { KINDS } from "./entered";
import { channelsQuery, removeChannel, testChannel } from "./queries";

const ChannelForm = lazy(() => import("./ChannelForm"));
const Deliveries = lazy(() => import("./Deliveries"));

/** Form or message list below the table. */
type Open = { readonly what: "add" } | { readonly what: "change" | "deliveries"; readonly channelId: number };

interface NotificationsSectionProps {
  /** Scopes for which the user may create channels. */
  readonly scopes: readonly Scope[];
}

export function NotificationsSection({ scopes }: NotificationsSectionProps) {
  const channels = useQuery(channelsQuery);
  const [open, setOpen] = useState<Open | null>(null);
  const close = () => setOpen(null);
  return (
    <Section
      actions={
        scopes.length > 0 && (
          <AddButton
            isOpen={open?.what === "add"}
            onToggle={() => setOpen(open?.what === "add" ? null : { what: "add" })}
          >{t`Add channel`}</AddButton>
        )
      }
      description={t`Channels for alerts and weekly digests.`}
      title={t`Notifications`}
    >
      <Stack>
        <Suspense>{open?.what === "add" && <ChannelForm onDone={close} scopes={scopes} />}</Suspense>
        <Loaded
          empty={t`No channels yet. Incidents are shown on the Incidents page, but no notifications are sent.`}
          query={channels}
        >
          {(rows) => (
            <>
              <ScrollTable
                head={[t`Channel`, t`Kind`, t`Clusters`, t`Destination`, t`Last message`, ""]}
                label={t`Channels`}
              >
                {rows.map((channel) => (
                  <ChannelRow channel={channel} key={channel.id} onOpen={setOpen} />
                ))}
              </ScrollTable>
              <OpenBelow channels={rows} onClose={close} open={open} />
            </>
          )}
        </Loaded>
      </Stack>
    </Section>
  );
}

interface OpenBelowProps {
  readonly channels: readonly Channel[];
  readonly open: Open | null;
  readonly onClose: () => void;
}

function OpenBelow({ channels, open, onClose }: OpenBelowProps) {
  if (open === null || open.what === "add") return null;
  const channel = channels.find(({ id }) => id === open.channelId);
  if (!channel) return null;
  return (
    <Suspense>
      {open.what === "change" ? (
        <ChannelForm channel={channel} key={channel.id} onDone={onClose} scopes={[]} />
      ) : (
        <Deliveries channel={channel} key={channel.id} />
      )}
    </Suspense>
  );
}

function ChannelRow({ channel, onOpen }: { channel: Channel; onOpen: (open: Open) => void }) {
  const mayChange = useMay("admin", channel.cluster_id);
  return (
    <tr>
      <td>{channel.name}</td>
      <td>{KINDS[channel.receiver.kind]}</td>
      <td>{channel.cluster_name ?? t`all clusters`}</td>
      <td className="iotide-wrap">{destination(channel.receiver)}</td>
      <td className="iotide-wrap">
        <LastMessage channel={channel} />
      </td>
      <td>
        <Group gap="xs" wrap="nowrap">
          <RowButton
            aria-label={t`Messages of ${channel.name}`}
            onClick={() => onOpen({ what: "deliveries", channelId: channel.id })}
          >{t`Messages`}</RowButton>
          {mayChange && <ChangeButtons channel={channel} onOpen={onOpen} />}
        </Group>
        {mayChange && <TestButton channel={channel} />}
      </td>
    </tr>
  );
}

function ChangeButtons({ channel, onOpen }: { channel: Channel; onOpen: (open: Open) => void }) {
  return (
    <>
      <RowButton
        aria-label={t`Change ${channel.name}`}
        onClick={() => onOpen({ what: "change", channelId: channel.id })}
      >{t`Change`}</RowButton>
      <ConfirmMutation
        aria-label={t`Delete ${channel.name}`}
        title={t`Delete ${channel.name}?`}
        body={t`Deletes the channel with its messages and secrets. A channel that an alert rule uses cannot be deleted.`}
        yes={t`Delete channel`}
        size="compact-xs"
        mutation={removeChannel}
        variables={channel.id}
      >{t`Delete`}</ConfirmMutation>
    </>
  );
}

function TestButton({ channel }: { channel: Channel }) {
  const test = useMutation(testChannel);
  return (
    <Stack gap={4} mt={4}>
      <RowButton
        aria-label={t`Test ${channel.name}`}
        loading={test.isPending}
        onClick={() => test.mutate(channel.id)}
        w="fit-content"
      >{t`Test`}</RowButton>
      {test.error && <ErrorNotice error={test.error} />}
      {test.data && (
        <Alert color={test.data.delivered ? "green" : "orange"} p="xs" role="status">
          {test.data.delivered ? t`Delivered` : t`Not delivered`}: {test.data.words}
        </Alert>
      )}
    </Stack>
  );
}

/** Result of the newest message. */
function LastMessage({ channel: { delivered_at, failed_at, failure } }: { channel: Channel }) {
  if (failed_at !== null && (delivered_at === null || failed_at > delivered_at))
    return (
      <Text c="red" component="span" size="sm">
        <When at={failed_at} />: {failure}
      </Text>
    );
  return delivered_at === null ? <span>{t`none yet`}</span> : <When at={delivered_at} prefix="arrived " />;
}

function destination(receiver: Channel["receiver"]): string {
  switch (receiver.kind) {
    case "email":
      return receiver.recipients.join(", ");
    case "webhook":
      return receiver.url;
    default:
      return receiver.host;
  }
}
