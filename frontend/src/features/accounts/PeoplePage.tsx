/** Who may log in, with what roles; for administrators of all clusters. */

import { t } from "@lingui/core/macro";
import { Stack } from "@mantine/core";
import { useMutation, useQuery } from "@tanstack/react-query";
import { lazy, Suspense, useState } from "react";
import { AddButton } from "@/components/AddButton";
import { ErrorNotice, Loaded, Page, Section } from "@/components/Page";
import { ScrollTable } from "@/components/ScrollTable";
import { usePrincipal } from "@/components/session";
import { PersonRow } from "./PersonRow";
import { makeLink, usersQuery } from "./peopleQueries";
import type { NamedCluster } from "./roles";
import { SettingsTabs } from "./SettingsTabs";

const NewPerson = lazy(() => import("./NewPerson"));
const SignInLink = lazy(() => import("./SignInLink"));

export function PeoplePage({ clusters }: { clusters: readonly NamedCluster[] }) {
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
        description={t`Who may log in, and what they may do where. A role includes the ones before it.`}
        title={t`Everybody`}
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
                    clusters={clusters}
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
          <AddButton isOpen={isAdding} onToggle={() => setIsAdding(!isAdding)}>{t`Add a person`}</AddButton>
          <Suspense>
            {isAdding && (
              <NewPerson
                clusters={clusters}
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
