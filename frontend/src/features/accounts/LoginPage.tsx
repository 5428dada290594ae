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
  /** Path to open after sign-in. */
  readonly landing: string;
  /** The one-time link in the address was refused. */
  readonly linkError: Error | null;
  /** Error code with which the OpenID provider redirected back. */
  readonly providerError: string | null;
  readonly onDone: () => void;
}

export function LoginPage({ landing, linkError, providerError, onDone }: LoginPageProps) {
  const { data: ways } = useQuery(waysQuery);
  useEffect(() => {
    document.title = t`Sign in · iotide`;
  }, []);
  return (
    <Center component="main" mih="100vh" p="md">
      <Card maw={420} padding="xl" w="100%" withBorder>
        <Stack>
          <Title order={1} size="h2">{t`Sign in to iotide`}</Title>
          {linkError && <ErrorNotice error={linkError} />}
          {providerError && <ProviderRefusal code={providerError} />}
          {ways?.provider_name && <ProviderWay landing={landing} name={ways.provider_name} />}
          <PasswordForm onDone={onDone} />
          <Hint>
            <Trans>
              No password yet? On the server, <Code>iotide-server admin-link</Code> prints a one-time sign-in
              link.
            </Trans>
          </Hint>
          {ways?.is_open_for_reading && (
            <Text size="sm">
              <TextLink to="/" underline="always">{t`Continue as guest (read-only)`}</TextLink>
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
      <Button component="a" href={providerAddress(landing)}>{t`Sign in with ${name}`}</Button>
      <Divider label={t`or with a local password`} />
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
        >{t`Sign in`}</Button>
      </Stack>
    </form>
  );
}

function Wait({ seconds }: { seconds: number }) {
  const left = formatDuration(seconds);
  return (
    <Alert color="orange" role="alert" title={t`Too many failed attempts`}>
      <Text size="sm">
        <Trans>
          Try again in <b role="timer">{left}</b>. You can still sign in from another address, or ask an admin
          for a sign-in link.
        </Trans>
      </Text>
    </Alert>
  );
}

/** Seconds until the server accepts the next attempt. */
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

const REFUSALS: ReadonlyMap<string, Refusal> = new Map(
  Object.entries({
    provider_away: {
      title: t`The identity provider does not respond`,
      remedy: t`Try again later, or sign in with a local password.`,
    },
    provider_refused: {
      title: t`The identity provider refused the sign-in`,
      remedy: t`Try again, or ask the operator of the identity provider.`,
    },
    provider_distrusted: {
      title: t`The response of the identity provider is not valid`,
      remedy: t`Try again. An admin can find the reason in the server log.`,
    },
    sign_in_stale: {
      title: t`This sign-in has expired`,
      remedy: t`It was started more than ten minutes ago or in another browser. Sign in again.`,
    },
    no_role: {
      title: t`You have no access`,
      remedy: t`None of your groups has a role here. Ask an admin for access.`,
    },
    account_disabled: { title: t`Your account is disabled`, remedy: t`Ask an admin to enable it.` },
    too_many_attempts: {
      title: t`Too many failed attempts`,
      remedy: t`Wait 15 minutes, then try again.`,
    },
  }),
);

/** The address may hold any text, so an unknown code is not shown. */
function providerRefusal(code: string): Refusal {
  return REFUSALS.get(code) ?? { title: t`Sign-in failed`, remedy: t`Try again.` };
}
