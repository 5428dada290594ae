import { t } from "@lingui/core/macro";
import { Stack, Text } from "@mantine/core";
import { useInfiniteQuery, useQuery } from "@tanstack/react-query";
import { OPEN_ALERT_STATES } from "@/api/states";
import { TextLink } from "@/components/links";
import { Loaded, Section } from "@/components/Page";
import { AlertTable } from "./AlertTable";
import { alertRulesQuery, alertsQuery } from "./queries";

const MOST_SHOWN = 5;

export function AlertInbox() {
  const alerts = useInfiniteQuery(alertsQuery({ states: OPEN_ALERT_STATES }));
  const count = alerts.data?.length ?? 0;
  return (
    <Section title={t`Open alerts`}>
      <Loaded empty={<NoAlert />} lines={2} query={alerts}>
        {(rows) => (
          <Stack gap="xs">
            <AlertTable alerts={rows.slice(0, MOST_SHOWN)} isOfSeveral label={t`Open alerts`} />
            <TextLink size="sm" to="/alerts">
              {count > MOST_SHOWN
                ? t`Show all ${count}${alerts.hasNextPage ? t` and more` : ""}`
                : t`Show all alerts`}
            </TextLink>
          </Stack>
        )}
      </Loaded>
    </Section>
  );
}

/** No alerts mean nothing if there is no rule. */
function NoAlert() {
  const rules = useQuery(alertRulesQuery);
  const hasNoRule = rules.data?.length === 0;
  return (
    <Text c="dimmed">
      {hasNoRule ? t`No open alerts. No alert rule is configured yet.` : t`No open alerts.`}{" "}
      <TextLink to="/settings" underline="always">
        {hasNoRule ? t`Add alert rule` : t`Alert rules`}
      </TextLink>
    </Text>
  );
}
