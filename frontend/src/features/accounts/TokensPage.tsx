import { t } from "@lingui/core/macro";
import { Trans } from "@lingui/react/macro";
import { Alert, Badge, Button, Group, NativeSelect, Stack, Text, TextInput } from "@mantine/core";
import { useMutation, useQuery } from "@tanstack/react-query";
import { useState } from "react";
import type { Token } from "@/api/types";
import { ConfirmMutation } from "@/components/buttons";
import { Command } from "@/components/Command";
import { ErrorNotice, Loaded, Page, Section } from "@/components/Page";
import { ScrollTable } from "@/components/ScrollTable";
import { useMay, usePrincipal } from "@/components/session";
import { submitted } from "@/components/submitted";
import { When } from "@/components/values";
import { createToken, revokeToken, type Scope, tokensQuery } from "./queries";
import { ScopeChoice } from "./ScopeChoice";
import { SettingsTabs } from "./SettingsTabs";
import { tokenEnd } from "./tokenEnd";

export function TokensPage() {
  const isAdmin = useMay("admin", null);
  return (
    <Page title={t`Tokens`} trail={t`Settings`}>
      <SettingsTabs />
      <OwnTokens />
      {isAdmin && <TokensOfOthers />}
    </Page>
  );
}

function OwnTokens() {
  const tokens = useQuery(tokensQuery("mine"));
  return (
    <Section
      description={t`For the iotide command (IOTIDE_TOKEN) and for scripts. A token never has more permissions than you.`}
      title={t`Your API tokens`}
    >
      <Stack>
        <Loaded empty={t`You have no tokens yet.`} query={tokens}>
          {(rows) => <TokenTable label={t`Your API tokens`} tokens={rows} />}
        </Loaded>
        <NewToken />
      </Stack>
    </Section>
  );
}

function TokensOfOthers() {
  const tokens = useQuery(tokensQuery("all"));
  const { id } = usePrincipal();
  return (
    <Section
      description={t`Tokens of all other users. Revoke tokens that are no longer needed.`}
      title={t`API tokens of other users`}
    >
      <Loaded
        empty={t`No other user has a token.`}
        isEmpty={(rows) => rows.every((token) => token.user_id === id)}
        query={tokens}
      >
        {(rows) => (
          <TokenTable
            isOfSeveral
            label={t`API tokens of other users`}
            tokens={rows.filter((token) => token.user_id !== id)}
          />
        )}
      </Loaded>
    </Section>
  );
}

interface TokenTableProps {
  readonly tokens: readonly Token[];
  readonly label: string;
  /** Show the owners, since the tokens belong to several users. */
  readonly isOfSeveral?: boolean;
}

function TokenTable({ tokens, label, isOfSeveral = false }: TokenTableProps) {
  const owner = isOfSeveral ? [t`Person`] : [];
  return (
    <ScrollTable
      head={[...owner, t`Name`, t`Scopes`, t`Created`, t`Last used`, t`Address`, t`Expires`, ""]}
      label={label}
    >
      {tokens.map((token) => (
        <tr key={token.id}>
          {isOfSeveral && <td>{token.user_name}</td>}
          <td>{token.name}</td>
          <td>{token.scopes.join(", ")}</td>
          <td>
            <When at={token.created_at} />
          </td>
          <td>
            <When at={token.last_used_at} />
          </td>
          <td>{token.last_used_address ?? "–"}</td>
          <td>
            <End token={token} />
          </td>
          <td>
            <RevokeButton isOfSeveral={isOfSeveral} token={token} />
          </td>
        </tr>
      ))}
    </ScrollTable>
  );
}

function End({ token: { expires_at } }: { token: Token }) {
  const end = tokenEnd(expires_at, Date.now());
  if (expires_at === null) return <Text component="span" size="sm">{t`never`}</Text>;
  return (
    <>
      <When at={expires_at} /> {end === "expired" && <Badge color="gray" tt="uppercase">{t`expired`}</Badge>}
      {end === "soon" && <Badge color="orange" tt="uppercase">{t`expires soon`}</Badge>}
    </>
  );
}

function RevokeButton({ token, isOfSeveral }: { token: Token; isOfSeveral: boolean }) {
  const { name, user_name } = token;
  return (
    <ConfirmMutation
      aria-label={isOfSeveral ? t`Revoke ${name} of ${user_name}` : t`Revoke ${name}`}
      title={isOfSeveral ? t`Revoke ${name} of ${user_name}?` : t`Revoke ${name}?`}
      body={
        <Trans>
          Programs that use this token lose access immediately. Last used: <When at={token.last_used_at} />.
          This cannot be undone.
        </Trans>
      }
      yes={t`Revoke`}
      size="compact-xs"
      mutation={revokeToken}
      variables={token.id}
    >{t`Revoke`}</ConfirmMutation>
  );
}

const USUAL_DAYS = "90";
const NO_END = "none";
const LIFETIMES = [
  { value: "1", label: t`1 day` },
  { value: "30", label: t`30 days` },
  { value: USUAL_DAYS, label: t`90 days` },
  { value: "365", label: t`1 year` },
  { value: NO_END, label: t`Never (until revoked)` },
];
const DAY_MILLISECONDS = 86_400_000;

function NewToken() {
  const create = useMutation(createToken);
  const [scopes, setScopes] = useState<readonly Scope[]>(["read"]);
  const submit = submitted((text, form) => {
    const days = text("days");
    const expires_at =
      days === NO_END ? null : new Date(Date.now() + Number(days) * DAY_MILLISECONDS).toISOString();
    const body = { name: text("name"), scopes: [...scopes], expires_at };
    create.mutate(body, { onSuccess: () => form.reset() });
  });
  return (
    <form aria-label={t`New token`} onSubmit={submit}>
      <Stack gap="sm">
        {create.error && <ErrorNotice error={create.error} />}
        {create.data && <ShownOnce name={create.data.name} token={create.data.token} />}
        <Group align="flex-end">
          <TextInput label={t`Name`} maxLength={100} name="name" placeholder={t`nightly cron`} required />
          <NativeSelect data={LIFETIMES} defaultValue={USUAL_DAYS} label={t`Expires after`} name="days" />
        </Group>
        <ScopeChoice onChange={setScopes} scopes={scopes} />
        <Button
          disabled={scopes.length === 0}
          loading={create.isPending}
          type="submit"
          w="fit-content"
        >{t`Create token`}</Button>
      </Stack>
    </form>
  );
}

function ShownOnce({ name, token }: { name: string; token: string }) {
  return (
    <Alert color="green" role="status" title={t`Copy ${name} now. It is not shown again.`}>
      <Command label={t`Copy token`} text={token} />
    </Alert>
  );
}
