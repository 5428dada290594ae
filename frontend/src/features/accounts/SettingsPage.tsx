/** What belongs to the user, and what is set of the clusters; tokens, people and the audit have pages of their own. */

import { t } from "@lingui/core/macro";
import { Button, PasswordInput, Stack, Text } from "@mantine/core";
import { notifications } from "@mantine/notifications";
import { useMutation } from "@tanstack/react-query";
import type { FormEvent, ReactNode } from "react";
import { ErrorNotice, Page, Section } from "@/components/Page";
import { usePrincipal } from "@/components/session";
import { changePassword, logOut } from "./queries";
import { type NamedCluster, rolesInWords } from "./roles";
import { SessionsSection } from "./SessionsSection";
import { SettingsTabs } from "./SettingsTabs";

const SHORTEST_PASSWORD = 12;

interface SettingsPageProps {
  readonly clusters: readonly NamedCluster[];
  /** What of the clusters is set here, too. */
  readonly children: ReactNode;
}

export function SettingsPage({ clusters, children }: SettingsPageProps) {
  const { name, roles } = usePrincipal();
  return (
    <Page actions={<LogOutButton />} title={t`Settings`} trail={t`Logged in as ${name}`}>
      <SettingsTabs />
      <Text c="dimmed" size="sm">
        {t`Your roles: ${rolesInWords(roles, clusters)}.`}
      </Text>
      {children}
      <SessionsSection />
      <Section description={t`With a password you can log in without a one-time link.`} title={t`Password`}>
        <PasswordForm />
      </Section>
    </Page>
  );
}

function LogOutButton() {
  const leave = useMutation(logOut);
  return (
    // A fresh page holds nothing of the session that ended.
    <Button
      loading={leave.isPending}
      onClick={() =>
        leave.mutate(undefined, {
          // Whoever came by the OpenID provider leaves there, too.
          onSuccess: ({ provider_url }) => location.assign(provider_url ?? "/login"),
        })
      }
      variant="default"
    >{t`Log out`}</Button>
  );
}

function PasswordForm() {
  const change = useMutation(changePassword);
  function submit(event: FormEvent<HTMLFormElement>): void {
    event.preventDefault();
    const form = event.currentTarget;
    const entered = new FormData(form);
    const body = {
      old_password: String(entered.get("old")) || null,
      new_password: String(entered.get("new")),
    };
    change.mutate(body, {
      onSuccess: () => {
        form.reset();
        notifications.show({ color: "green", message: t`The password is changed.` });
      },
    });
  }
  return (
    <form onSubmit={submit}>
      <Stack maw={420}>
        {change.error && <ErrorNotice error={change.error} />}
        <PasswordInput
          autoComplete="current-password"
          description={t`Leave empty if you never had one.`}
          label={t`Old password`}
          name="old"
        />
        <PasswordInput
          autoComplete="new-password"
          description={t`At least ${SHORTEST_PASSWORD} characters.`}
          label={t`New password`}
          minLength={SHORTEST_PASSWORD}
          name="new"
          required
        />
        <Button loading={change.isPending} type="submit" w="fit-content">{t`Change password`}</Button>
      </Stack>
    </form>
  );
}
