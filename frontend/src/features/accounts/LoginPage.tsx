/** Name and password, or a one-time link that the server printed. */

import { t } from "@lingui/core/macro";
import { Trans } from "@lingui/react/macro";
import { Button, Card, Center, Code, PasswordInput, Stack, Text, TextInput, Title } from "@mantine/core";
import { useMutation } from "@tanstack/react-query";
import { type FormEvent, useEffect } from "react";
import { ErrorNotice } from "@/components/ErrorNotice";
import { logIn } from "./queries";

interface LoginPageProps {
  /** Why the one-time link in the address was refused. */
  readonly linkError: Error | null;
  readonly onDone: () => void;
}

export function LoginPage({ linkError, onDone }: LoginPageProps) {
  useEffect(() => {
    document.title = t`Log in · iotide`;
  }, []);
  return (
    <Center component="main" mih="100vh" p="md">
      <Card maw={420} padding="xl" w="100%" withBorder>
        <Stack>
          <Title order={1} size="h2">{t`Log in to iotide`}</Title>
          {linkError && <ErrorNotice error={linkError} />}
          <PasswordForm onDone={onDone} />
          <Text c="dimmed" size="sm">
            <Trans>
              No password yet? On the server, <Code>iotide-server admin-link</Code> prints a link that logs
              you in once.
            </Trans>
          </Text>
        </Stack>
      </Card>
    </Center>
  );
}

function PasswordForm({ onDone }: { onDone: () => void }) {
  const login = useMutation(logIn);
  function submit(event: FormEvent<HTMLFormElement>): void {
    event.preventDefault();
    const entered = new FormData(event.currentTarget);
    login.mutate(
      { name: String(entered.get("name")), password: String(entered.get("password")) },
      { onSuccess: onDone },
    );
  }
  return (
    <form onSubmit={submit}>
      <Stack>
        {login.error && <ErrorNotice error={login.error} />}
        <TextInput autoComplete="username" label={t`Name`} name="name" required />
        <PasswordInput autoComplete="current-password" label={t`Password`} name="password" required />
        <Button loading={login.isPending} type="submit">{t`Log in`}</Button>
      </Stack>
    </form>
  );
}
