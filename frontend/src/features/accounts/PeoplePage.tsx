import { t } from "@lingui/core/macro";
import { Badge, Group, Stack } from "@mantine/core";
import { useMutation, useQuery } from "@tanstack/react-query";
import { lazy, Suspense, useState } from "react";
import type { User } from "@/api/types";
import { AddButton, ConfirmButton, DialogButton } from "@/components/buttons";
import { Hint, RowButton } from "@/components/looks";
import { useClusters } from "@/components/Origin";
import { ErrorNotice, Loaded, Page, Section } from "@/components/Page";
import { Row, ScrollTable } from "@/components/ScrollTable";
import { usePrincipal } from "@/components/session";
import { When } from "@/components/values";
import { whatFollows } from "./leaving";
import { makeLink, setDisabled, usersQuery } from "./queries";
import { rolesInWords } from "./roles";
import { SettingsTabs } from "./SettingsTabs";

const NewPerson = lazy(() => import("./NewPerson"));
const SignInLink = lazy(() => import("./SignInLink"));

export function PeoplePage() {
  const users = useQuery(usersQuery);
  const link = useMutation(makeLink);
  const { id: ownId } = usePrincipal();
  const [isAdding, setIsAdding] = useState(false);
  const [nameOfLink, setNameOfLink] = useState("");
  function invite(userId: number, name: string): void {
    setNameOfLink(name);
    link.mutate(userId);
  }
  return (
    <Page title={t`People`} trail={t`Settings`}>
      <SettingsTabs />
      <Section
        description={t`Users who can sign in, and their roles in each cluster. Each role includes the roles before it.`}
        title={t`Users`}
      >
        <Stack>
          {link.error && <ErrorNotice error={link.error} />}
          <Loaded lines={6} query={users}>
            {(rows) => (
              <ScrollTable
                head={[t`Name`, t`Roles`, t`Last seen`, t`Sessions`, t`Tokens`, t`Schedules`, ""]}
                label={t`People`}
              >
                {rows.map((user) => (
                  <PersonRow
                    isLinking={link.isPending && link.variables === user.id}
                    isSelf={user.id === ownId}
                    key={user.id}
                    onLink={invite}
                    user={user}
                  />
                ))}
              </ScrollTable>
            )}
          </Loaded>
          <AddButton isOpen={isAdding} onToggle={() => setIsAdding(!isAdding)}>{t`Add person`}</AddButton>
          <Suspense>
            {isAdding && (
              <NewPerson
                onAdded={(userId, name) => {
                  setIsAdding(false);
                  invite(userId, name);
                }}
              />
            )}
          </Suspense>
        </Stack>
      </Section>
      <Suspense>
        {link.data && <SignInLink name={nameOfLink} onClose={link.reset} url={link.data.url} />}
      </Suspense>
    </Page>
  );
}

const ChangeRoles = lazy(() => import("./ChangeRoles"));

interface PersonRowProps {
  readonly user: User;
  readonly isSelf: boolean;
  /** A sign-in link is being created. */
  readonly isLinking: boolean;
  readonly onLink: (userId: number, name: string) => void;
}

function PersonRow({ user, isSelf, isLinking, onLink }: PersonRowProps) {
  return (
    <Row>
      <td>
        {user.name} {user.disabled_at !== null && <Badge color="gray" tt="uppercase">{t`disabled`}</Badge>}
      </td>
      {rolesInWords(user.roles, useClusters())}
      <When at={user.last_seen_at} />
      {user.session_count}
      {user.token_count}
      {user.schedule_count}
      {isSelf ? (
        <Hint component="span">{t`you`}</Hint>
      ) : (
        <PersonActions isLinking={isLinking} onLink={onLink} user={user} />
      )}
    </Row>
  );
}

function PersonActions({ user, isLinking, onLink }: Omit<PersonRowProps, "isSelf">) {
  const change = useMutation(setDisabled);
  const { id, name, roles } = user;
  const isDisabled = user.disabled_at !== null;
  const disable = (disabled: boolean) => change.mutate({ userId: id, body: { roles, disabled } });
  return (
    <Group gap={6} wrap="nowrap">
      <DialogButton
        aria-label={t`Change roles of ${name}`}
        dialog={(onClose) => <ChangeRoles onClose={onClose} user={user} />}
        size="compact-xs"
        variant="default"
      >{t`Roles`}</DialogButton>
      {isDisabled ? (
        <RowButton
          aria-label={t`Enable ${name}`}
          loading={change.isPending}
          onClick={() => disable(false)}
        >{t`Enable`}</RowButton>
      ) : (
        <>
          <RowButton
            aria-label={t`Create a sign-in link for ${name}`}
            loading={isLinking}
            onClick={() => onLink(id, name)}
          >{t`Create link`}</RowButton>
          <ConfirmButton
            aria-label={t`Disable ${name}`}
            loading={change.isPending}
            onConfirm={() => disable(true)}
            title={t`Disable ${name}?`}
            body={whatFollows(user)}
            yes={t`Disable`}
            no={t`Cancel`}
            size="compact-xs"
          >{t`Disable`}</ConfirmButton>
        </>
      )}
    </Group>
  );
}
