/** One's own API tokens, and for administrators of all clusters those of everybody else. */

import { t } from "@lingui/core/macro";
import { Stack } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { Loaded, Page, Section } from "@/components/Page";
import { useMay, usePrincipal } from "@/components/session";
import { NewToken } from "./NewToken";
import { tokensQuery } from "./queries";
import { SettingsTabs } from "./SettingsTabs";
import { TokenTable } from "./TokenTable";

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
      description={t`For the iotide command (IOTIDE_TOKEN) and for scripts. A token never does more than you may.`}
      title={t`Your API tokens`}
    >
      <Stack>
        <Loaded empty={t`You have no token yet.`} query={tokens}>
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
      description={t`What was issued to whom; revoke what nobody answers for.`}
      title={t`API tokens of others`}
    >
      <Loaded
        empty={t`Nobody else has a token.`}
        isEmpty={(rows) => rows.every((token) => token.user_id === id)}
        query={tokens}
      >
        {(rows) => (
          <TokenTable
            isOfSeveral
            label={t`API tokens of others`}
            tokens={rows.filter((token) => token.user_id !== id)}
          />
        )}
      </Loaded>
    </Section>
  );
}
