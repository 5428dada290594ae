/** Confirms a login of the command `iotide`. */

import { t } from "@lingui/core/macro";
import { Trans } from "@lingui/react/macro";
import { Alert, Button, Code, Stack, Text } from "@mantine/core";
import { useMutation } from "@tanstack/react-query";
import { useState } from "react";
import { Hint } from "@/components/looks";
import { ErrorNotice, Page } from "@/components/Page";
import { usePrincipal } from "@/components/session";
import { loginCode } from "./loginCode";
import { type CommandLogin, confirmLogin, type Scope } from "./queries";
import { ScopeChoice } from "./ScopeChoice";

export function ConnectPage({ login }: { login: CommandLogin | null }) {
  return (
    <Page title={t`Sign in the command`} trail={t`Settings`}>
      {login ? (
        <Confirmation login={login} />
      ) : (
        <Alert color="orange">{t`This address is incomplete. Open the whole address that iotide login prints.`}</Alert>
      )}
    </Page>
  );
}

function Confirmation({ login }: { login: CommandLogin }) {
  const confirm = useMutation(confirmLogin);
  const { name: person } = usePrincipal();
  const [scopes, setScopes] = useState<readonly Scope[]>(["read", "operate"]);
  if (confirm.data) return <Done name={login.name} />;
  return (
    <Stack align="flex-start" maw={560}>
      <Text>
        <Trans>
          <b>{login.name}</b> asks to act for you, {person}. Compare its code:
        </Trans>
      </Text>
      <Code fz="h2" px="md" py="xs">
        {loginCode(login.secret_sha256)}
      </Code>
      <Hint>{t`Confirm only if you ran iotide login yourself and your terminal shows this code.`}</Hint>
      <ScopeChoice onChange={setScopes} scopes={scopes} />
      {confirm.error && <ErrorNotice error={confirm.error} />}
      <Button
        disabled={scopes.length === 0}
        loading={confirm.isPending}
        onClick={() => confirm.mutate({ ...login, scopes: [...scopes] })}
      >{t`Confirm sign-in`}</Button>
    </Stack>
  );
}

function Done({ name }: { name: string }) {
  return (
    <Alert color="green" role="status" title={t`${name} is signed in`}>
      {t`Return to your terminal. Settings, Tokens lists this access and revokes it.`}
    </Alert>
  );
}
