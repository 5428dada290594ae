/** Name and password, the OpenID provider, or a one-time link that the server printed. */

import { t } from "@lingui/core/macro";
import { Trans } from "@lingui/react/macro";
import {
  Alert,
  Button,
  Card,
  Center,
  Code,
  Divider,
  PasswordInput,
  Stack,
  Text,
  TextInput,
  Title,
} from "@mantine/core";
import { useMutation, useQuery } from "@tanstack/react-query";
import { useEffect, useState } from "react";
import { ApiError } from "@/api/errors";
import { TextLink } from "@/components/links";
import { Hint } from "@/components/looks";
import { ErrorNotice } from "@/components/Page";
import { submitted } from "@/components/submitted";
import { formatDuration } from "@/lib/units";
import { logIn, providerAddress, waysQuery } from "./queries";

interface LoginPageProps {
  /** Path of the page that is shown afterwards. */
  readonly landing: string;
  /** Why the one-time link in the address was refused. */
  readonly linkError: Error | null;
  /** Code of the reason why the way over the OpenID provider led back here. */
  readonly providerError: string | null;
  readonly onDone: () => void;
}

export function LoginPage({ landing, linkError, providerError, onDone }: LoginPageProps) {
  const { data: ways } = useQuery(waysQuery);
  useEffect(() => {
    document.title = t`Log in · iotide`;
  }, []);
  return (
    <Center component="main" mih="100vh" p="md">
      <Card maw={420} padding="xl" w="100%" withBorder>
        <Stack>
          <Title order={1} size="h2">{t`Log in to iotide`}</Title>
          {linkError && <ErrorNotice error={linkError} />}
          {providerError && <ProviderRefusal code={providerError} />}
          {ways?.provider_name && <ProviderWay landing={landing} name={ways.provider_name} />}
          <PasswordForm onDone={onDone} />
          <Hint>
            <Trans>
              No password yet? On the server, <Code>iotide-server admin-link</Code> prints a link that logs
              you in once.
            </Trans>
          </Hint>
          {ways?.is_open_for_reading && (
            <Text size="sm">
              <TextLink to="/" underline="always">{t`Look around without logging in`}</TextLink>
            </Text>
          )}
        </Stack>
      </Card>
    </Center>
  );
}

function ProviderWay({ name, landing }: { name: string; landing: string }) {
  return (
    <>
      <Button component="a" href={providerAddress(landing)}>{t`Log in with ${name}`}</Button>
      <Divider label={t`or with a password of this installation`} />
    </>
  );
}

function ProviderRefusal({ code }: { code: string }) {
  const { title, remedy } = providerRefusal(code);
  return (
    <Alert color="red" role="alert" title={title}>
      <Text size="sm">{remedy}</Text>
    </Alert>
  );
}

function PasswordForm({ onDone }: { onDone: () => void }) {
  const login = useMutation(logIn);
  const waitSeconds = useCountdown(login.error instanceof ApiError ? login.error : null);
  const { data: ways } = useQuery(waysQuery);
  const submit = submitted((text) =>
    login.mutate({ name: text("name"), password: text("password") }, { onSuccess: onDone }),
  );
  return (
    <form onSubmit={submit}>
      <Stack>
        {waitSeconds > 0 && <Wait seconds={waitSeconds} />}
        {login.error && !isWait(login.error) && <ErrorNotice error={login.error} />}
        <TextInput autoComplete="username" label={t`Name`} name="name" required />
        <PasswordInput autoComplete="current-password" label={t`Password`} name="password" required />
        <Button
          disabled={waitSeconds > 0}
          loading={login.isPending}
          type="submit"
          variant={ways?.provider_name ? "default" : "filled"}
        >{t`Log in`}</Button>
      </Stack>
    </form>
  );
}

function Wait({ seconds }: { seconds: number }) {
  const left = formatDuration(seconds);
  return (
    <Alert color="orange" role="alert" title={t`Too many attempts failed`}>
      <Text size="sm">
        <Trans>
          The next one is looked at in <b role="timer">{left}</b>. From other places you can log in meanwhile,
          and an administrator can make you a link.
        </Trans>
      </Text>
    </Alert>
  );
}

/** The seconds that are left of what the server asks to wait. */
function useCountdown(error: ApiError | null): number {
  const [now, setNow] = useState(Date.now);
  const [until, setUntil] = useState(0);
  useEffect(() => {
    if (error?.waitSeconds == null) return setUntil(0);
    const began = Date.now();
    setNow(began);
    setUntil(began + error.waitSeconds * 1000);
    const timer = setInterval(() => setNow(Date.now()), 1000);
    return () => clearInterval(timer);
  }, [error]);
  return Math.max(0, Math.ceil((until - now) / 1000));
}

function isWait(error: Error): boolean {
  return error instanceof ApiError && error.waitSeconds !== null;
}

interface Refusal {
  readonly title: string;
  readonly remedy: string;
}

/** By the code that the server puts into the address. */
const REFUSALS: ReadonlyMap<string, Refusal> = new Map(
  Object.entries({
    provider_away: {
      title: t`The login service does not answer`,
      remedy: t`Try again shortly. With a password of this installation you can log in without it.`,
    },
    provider_refused: {
      title: t`The login service did not let you in`,
      remedy: t`Try again, or ask whoever runs it.`,
    },
    provider_distrusted: {
      title: t`The login service's answer cannot be trusted`,
      remedy: t`Try again; an administrator finds the reason in the server's log.`,
    },
    sign_in_stale: {
      title: t`This login is over`,
      remedy: t`It was begun more than ten minutes ago, or in another browser. Begin it again.`,
    },
    no_role: {
      title: t`You are known, but may not see anything here`,
      remedy: t`Your groups give you no role. Ask an administrator for access.`,
    },
    account_disabled: { title: t`Your account here is disabled`, remedy: t`Ask an administrator.` },
    too_many_attempts: {
      title: t`Too many attempts failed`,
      remedy: t`Wait a quarter of an hour, then try again.`,
    },
  }),
);

/** The address may hold anything, so its code is not shown. */
function providerRefusal(code: string): Refusal {
  return REFUSALS.get(code) ?? { title: t`The login failed`, remedy: t`Try again.` };
}
