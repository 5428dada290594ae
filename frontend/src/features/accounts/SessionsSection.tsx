/** The browsers that the user is logged in with, and how they are logged out from here. */

import { plural, t } from "@lingui/core/macro";
import { Badge, Stack, Text } from "@mantine/core";
import { useMutation, useQuery } from "@tanstack/react-query";
import type { BrowserSession } from "@/api/types";
import { ConfirmButton } from "@/components/ConfirmButton";
import { Loaded, Section } from "@/components/Page";
import { Row, ScrollTable } from "@/components/ScrollTable";
import { When } from "@/components/values";
import { browserName } from "./browserName";
import { endOtherSessions, endSession, sessionsQuery } from "./queries";

const WAYS: Readonly<Record<BrowserSession["begun_by"], string>> = {
  link: t`link`,
  password: t`password`,
  provider: t`login service`,
};

export function SessionsSection() {
  const sessions = useQuery(sessionsQuery);
  const end = useMutation(endOtherSessions);
  const others = (sessions.data ?? []).filter((session) => !session.is_this_one).length;
  return (
    <Section
      description={t`Browsers that are logged in as you. End what you do not know, then change your password.`}
      title={t`Sessions`}
    >
      <Stack>
        <Loaded query={sessions}>{(rows) => <SessionTable sessions={rows} />}</Loaded>
        {others > 0 && (
          <ConfirmButton
            loading={end.isPending}
            onConfirm={() => end.mutate()}
            question={{
              title: t`End all other sessions?`,
              body: plural(others, {
                one: "# other browser is logged out at once.",
                other: "# other browsers are logged out at once.",
              }),
              yes: t`End them`,
              no: t`Keep them`,
            }}
            w="fit-content"
          >{t`End all others`}</ConfirmButton>
        )}
      </Stack>
    </Section>
  );
}

function SessionTable({ sessions }: { sessions: readonly BrowserSession[] }) {
  return (
    <ScrollTable head={[t`Browser`, t`Address`, t`Since`, t`Last seen`, t`Ends`, ""]} label={t`Sessions`}>
      {sessions.map((session) => (
        <SessionRow key={session.id} session={session} />
      ))}
    </ScrollTable>
  );
}

function SessionRow({ session }: { session: BrowserSession }) {
  const end = useMutation(endSession);
  const name = browserName(session.browser);
  return (
    <Row>
      <td title={session.browser ?? undefined}>
        {name}
        <Text c="dimmed" size="xs">{t`by ${WAYS[session.begun_by]}`}</Text>
      </td>
      {session.address ?? t`unknown`}
      <When at={session.created_at} />
      <When at={session.last_seen_at} />
      <When at={session.expires_at} />
      {session.is_this_one ? (
        <Badge tt="uppercase">{t`this one`}</Badge>
      ) : (
        <ConfirmButton
          aria-label={t`End the session of ${name} at ${session.address ?? t`unknown`}`}
          loading={end.isPending}
          onConfirm={() => end.mutate(session.id)}
          question={{
            title: t`End this session?`,
            body: t`${name} at ${session.address ?? t`an unknown address`} is logged out at once.`,
            yes: t`End it`,
          }}
          size="compact-xs"
        >{t`End`}</ConfirmButton>
      )}
    </Row>
  );
}
