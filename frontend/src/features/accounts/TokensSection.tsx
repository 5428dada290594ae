/** API tokens of the user: made, shown once, revoked. */

import { t } from "@lingui/core/macro";
import { Alert, Button, Checkbox, Group, NativeSelect, Stack, Text, TextInput } from "@mantine/core";
import { useMutation, useQuery } from "@tanstack/react-query";
import { type FormEvent, useState } from "react";
import type { Token } from "@/api/types";
import { Command } from "@/components/Command";
import { ConfirmButton } from "@/components/ConfirmButton";
import { ErrorNotice } from "@/components/ErrorNotice";
import { Loaded } from "@/components/Loaded";
import { Section } from "@/components/Page";
import { ScrollTable } from "@/components/ScrollTable";
import { When } from "@/components/When";
import { createToken, revokeToken, type Scope, tokensQuery } from "./queries";

const SCOPES: readonly { value: Scope; label: string }[] = [
  { value: "read", label: t`read: see everything you may see` },
  { value: "operate", label: t`operate: submit and cancel campaigns` },
  { value: "admin", label: t`admin: nodes, targets and clusters` },
];
const LIFETIMES = [
  { value: "30", label: t`30 days` },
  { value: "365", label: t`1 year` },
  { value: "", label: t`No end` },
];
const DAY_MILLISECONDS = 86_400_000;

export function TokensSection() {
  const tokens = useQuery(tokensQuery);
  return (
    <Section
      description={t`For the iotide command (IOTIDE_TOKEN) and for scripts. A token never does more than you may.`}
      title={t`API tokens`}
    >
      <Stack>
        <Loaded
          empty={<Text c="dimmed">{t`You have no token yet.`}</Text>}
          isEmpty={(rows) => rows.length === 0}
          query={tokens}
        >
          {(rows) => <TokenTable tokens={rows} />}
        </Loaded>
        <NewToken />
      </Stack>
    </Section>
  );
}

function TokenTable({ tokens }: { tokens: readonly Token[] }) {
  const revoke = useMutation(revokeToken);
  return (
    <ScrollTable head={[t`Name`, t`Scopes`, t`Made`, t`Last used`, t`Ends`, ""]} label={t`API tokens`}>
      {tokens.map((token) => (
        <tr key={token.id}>
          <td>{token.name}</td>
          <td>{token.scopes.join(", ")}</td>
          <td>
            <When at={token.created_at} />
          </td>
          <td>
            <When at={token.last_used_at} />
          </td>
          <td>{token.expires_at ? <When at={token.expires_at} /> : t`no end`}</td>
          <td>
            <ConfirmButton
              aria-label={t`Revoke ${token.name}`}
              onConfirm={() => revoke.mutate(token.id)}
              question={{
                title: t`Revoke ${token.name}?`,
                body: t`Programs that use it are refused from then on. This cannot be undone.`,
                yes: "Revoke",
                no: t`Keep it`,
              }}
              size="compact-xs"
            >{t`Revoke`}</ConfirmButton>
          </td>
        </tr>
      ))}
    </ScrollTable>
  );
}

function NewToken() {
  const create = useMutation(createToken);
  const [scopes, setScopes] = useState<string[]>(["read"]);
  function submit(event: FormEvent<HTMLFormElement>): void {
    event.preventDefault();
    const form = event.currentTarget;
    const entered = new FormData(form);
    const days = Number(entered.get("days"));
    const expiresAt = days > 0 ? new Date(Date.now() + days * DAY_MILLISECONDS).toISOString() : null;
    const chosen = SCOPES.map(({ value }) => value).filter((scope) => scopes.includes(scope));
    create.mutate(
      { name: String(entered.get("name")), scopes: chosen, expires_at: expiresAt },
      { onSuccess: () => form.reset() },
    );
  }
  return (
    <form aria-label={t`New token`} onSubmit={submit}>
      <Stack gap="sm">
        {create.error && <ErrorNotice error={create.error} />}
        {create.data && <ShownOnce name={create.data.name} token={create.data.token} />}
        <Group align="flex-end">
          <TextInput label={t`Name`} name="name" placeholder={t`nightly cron`} required />
          <NativeSelect data={LIFETIMES} label={t`Ends after`} name="days" />
        </Group>
        <Checkbox.Group label={t`Scopes`} onChange={setScopes} value={scopes}>
          <Stack gap={6} mt={4}>
            {SCOPES.map(({ value, label }) => (
              <Checkbox key={value} label={label} value={value} />
            ))}
          </Stack>
        </Checkbox.Group>
        <Button
          disabled={scopes.length === 0}
          loading={create.isPending}
          type="submit"
          w="fit-content"
        >{t`Make a token`}</Button>
      </Stack>
    </form>
  );
}

function ShownOnce({ name, token }: { name: string; token: string }) {
  return (
    <Alert color="green" role="status" title={t`Copy ${name} now: it is not shown again`} variant="light">
      <Command label={t`Copy the token`} text={token} />
    </Alert>
  );
}
