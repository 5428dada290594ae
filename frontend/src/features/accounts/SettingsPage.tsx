/** Settings of the user and, below, of the clusters. */

import { plural, t } from "@lingui/core/macro";
import { Badge, Button, PasswordInput, Stack } from "@mantine/core";
import { notifications } from "@mantine/notifications";
import { useMutation, useQuery } from "@tanstack/react-query";
import type { ReactNode } from "react";
import type { BrowserSession } from "@/api/types";
import { ConfirmMutation } from "@/components/buttons";
import { Detail, Hint } from "@/components/looks";
import { useClusters } from "@/components/Origin";
import { ErrorNotice, Loaded, Page, Section } from "@/components/Page";
import { Row, ScrollTable } from "@/components/ScrollTable";
import { usePrincipal } from "@/components/session";
import { submitted } from "@/components/submitted";
import { When } from "@/components/values";
import { browserName } from "./browserName";
import { changePassword, endOtherSessions, endSession, logOut, sessionsQuery } from "./queries";
import { rolesInWords } from "./roles";
import { SettingsTabs } from "./SettingsTabs";

const SHORTEST_PASSWORD = 12;

/** The children are the settings of the clusters. */
export function SettingsPage({ children }: { children: ReactNode }) {
  const { name, roles } = usePrincipal();
  return (
    <Page actions={<LogOutButton />} title={t`Settings`} trail={t`Signed in as ${name}`}>
      <SettingsTabs />
      <Hint>{t`Your roles: ${rolesInWords(roles, useClusters())}.`}</Hint>
      {children}
      <SessionsSection />
      <Section description={t`With a password you can sign in without a one-time link.`} title={t`Password`}>
        <PasswordForm />
      </Section>
    </Page>
  );
}

function LogOutButton() {
  const leave = useMutation(logOut);
  return (
    <Button loading={leave.isPending} onClick={() => leave.mutate()} variant="default">{t`Sign out`}</Button>
  );
}

function PasswordForm() {
  const change = useMutation(changePassword);
  const submit = submitted((text, form) => {
    const body = { old_password: text("old") || null, new_password: text("new") };
    change.mutate(body, {
      onSuccess: () => {
        form.reset();
        notifications.show({ color: "green", message: t`Password changed.` });
      },
    });
  });
  return (
    <form onSubmit={submit}>
      <Stack maw={420}>
        {change.error && <ErrorNotice error={change.error} />}
        <PasswordInput
          autoComplete="current-password"
          description={t`Leave empty if you have no password yet.`}
          label={t`Current password`}
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

const WAYS: Readonly<Record<BrowserSession["begun_by"], string>> = {
  link: t`one-time link`,
  password: t`password`,
  provider: t`identity provider`,
};

function SessionsSection() {
  const sessions = useQuery(sessionsQuery);
  const others = (sessions.data ?? []).filter((session) => !session.is_this_one).length;
  return (
    <Section
      description={t`Browsers in which you are signed in. End sessions that you do not recognise, then change your password.`}
      title={t`Sessions`}
    >
      <Stack>
        <Loaded query={sessions}>{(rows) => <SessionTable sessions={rows} />}</Loaded>
        {others > 0 && (
          <ConfirmMutation
            title={t`End all other sessions?`}
            body={plural(others, {
              one: "# other browser is signed out immediately.",
              other: "# other browsers are signed out immediately.",
            })}
            yes={t`End sessions`}
            no={t`Cancel`}
            w="fit-content"
            mutation={endOtherSessions}
            variables={undefined}
          >{t`End all other sessions`}</ConfirmMutation>
        )}
      </Stack>
    </Section>
  );
}

function SessionTable({ sessions }: { sessions: readonly BrowserSession[] }) {
  return (
    <ScrollTable
      head={[t`Browser`, t`Address`, t`Signed in`, t`Last seen`, t`Expires`, ""]}
      label={t`Sessions`}
    >
      {sessions.map((session) => (
        <SessionRow key={session.id} session={session} />
      ))}
    </ScrollTable>
  );
}

function SessionRow({ session }: { session: BrowserSession }) {
  const name = browserName(session.browser);
  return (
    <Row>
      <td title={session.browser ?? undefined}>
        {name}
        <Detail>{t`via ${WAYS[session.begun_by]}`}</Detail>
      </td>
      {session.address ?? t`unknown`}
      <When at={session.created_at} />
      <When at={session.last_seen_at} />
      <When at={session.expires_at} />
      {session.is_this_one ? (
        <Badge tt="uppercase">{t`this session`}</Badge>
      ) : (
        <ConfirmMutation
          aria-label={t`End the session of ${name} at ${session.address ?? t`unknown`}`}
          title={t`End this session?`}
          body={t`${name} at ${session.address ?? t`an unknown address`} is signed out immediately.`}
          yes={t`End session`}
          size="compact-xs"
          mutation={endSession}
          variables={session.id}
        >{t`End`}</ConfirmMutation>
      )}
    </Row>
  );
}
