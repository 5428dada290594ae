/** Destination fields by kind. A stored secret is never shown and is kept if its field stays empty. */

import { t } from "@lingui/core/macro";
import { Button, Group, NativeSelect, PasswordInput, Stack, TextInput } from "@mantine/core";
import { useState } from "react";
import type { Channel } from "@/api/types";
import { Command } from "@/components/Command";
import { type Kind, newSecret } from "./entered";

type Receiver = Channel["receiver"];

const KEPT = t`Set; leave empty to keep it.`;

interface ReceiverFieldsProps {
  readonly kind: Kind;
  /** Current destination when a channel is changed. */
  readonly receiver: Receiver | undefined;
}

export function ReceiverFields({ kind, receiver }: ReceiverFieldsProps) {
  if (kind === "email") return <EmailFields receiver={receiver?.kind === "email" ? receiver : undefined} />;
  if (kind === "webhook")
    return <WebhookFields receiver={receiver?.kind === "webhook" ? receiver : undefined} />;
  const known = receiver?.kind === kind ? receiver : undefined;
  return (
    <PasswordInput
      autoComplete="off"
      description={known ? t`${KEPT} Host: ${known.host}.` : t`URL of an incoming webhook created there.`}
      label={t`Address`}
      name="url"
      required={!known}
    />
  );
}

interface EmailFieldsProps {
  readonly receiver: Extract<Receiver, { kind: "email" }> | undefined;
}

function EmailFields({ receiver }: EmailFieldsProps) {
  return (
    <Stack gap="sm">
      <ServerFields receiver={receiver} />
      <AccountFields receiver={receiver} />
      <PeopleFields receiver={receiver} />
    </Stack>
  );
}

function ServerFields({ receiver }: EmailFieldsProps) {
  return (
    <Group align="flex-end">
      <TextInput
        defaultValue={receiver?.host}
        flex={1}
        label={t`Mail server`}
        miw={200}
        name="host"
        placeholder={t`mail.example.org`}
        required
      />
      <TextInput
        defaultValue={receiver?.port ?? 587}
        label={t`Port`}
        max={65535}
        min={1}
        name="port"
        required
        type="number"
        w={100}
      />
      <NativeSelect
        data={[
          { value: "starttls", label: t`STARTTLS` },
          { value: "tls", label: t`TLS` },
          { value: "none", label: t`no TLS` },
        ]}
        defaultValue={receiver?.tls}
        label={t`Encryption`}
        name="tls"
      />
    </Group>
  );
}

function AccountFields({ receiver }: EmailFieldsProps) {
  return (
    <Group align="flex-end">
      <TextInput
        autoComplete="off"
        defaultValue={receiver?.user ?? ""}
        description={t`Leave empty if not needed.`}
        label={t`User`}
        name="user"
      />
      <PasswordInput
        autoComplete="new-password"
        description={receiver?.has_password ? KEPT : t`Sent over TLS only.`}
        label={t`Password`}
        name="password"
        w={240}
      />
    </Group>
  );
}

function PeopleFields({ receiver }: EmailFieldsProps) {
  return (
    <Group align="flex-end">
      <TextInput
        defaultValue={receiver?.sender}
        label={t`From`}
        name="sender"
        placeholder={t`iotide@example.org`}
        required
      />
      <TextInput
        defaultValue={receiver?.recipients.join(", ")}
        flex={1}
        label={t`To`}
        miw={240}
        name="recipients"
        placeholder={t`ada@example.org, bob@example.org`}
        required
      />
    </Group>
  );
}

function WebhookFields({ receiver }: { receiver: Extract<Receiver, { kind: "webhook" }> | undefined }) {
  const [secret, setSecret] = useState("");
  const [isMade, setIsMade] = useState(false);
  return (
    <Stack gap="sm">
      <TextInput
        defaultValue={receiver?.url}
        description={t`Visible to operators. The signature authenticates messages, not the address.`}
        label={t`Address`}
        name="url"
        placeholder={t`https://example.org/hooks/iotide`}
        required
        type="url"
      />
      <Group align="flex-end">
        <PasswordInput
          autoComplete="off"
          description={
            receiver
              ? KEPT
              : t`whsec_ followed by 24 to 64 random bytes in base64. Enter the same secret at the receiver.`
          }
          flex={1}
          label={t`Signing secret`}
          miw={240}
          name="secret"
          onChange={(event) => setSecret(event.currentTarget.value)}
          required={!receiver}
          value={secret}
        />
        <Button
          onClick={() => {
            setSecret(newSecret());
            setIsMade(true);
          }}
          variant="default"
        >{t`Generate secret`}</Button>
      </Group>
      {isMade && secret && <Command label={t`Copy the secret now. It is not shown again.`} text={secret} />}
    </Stack>
  );
}
