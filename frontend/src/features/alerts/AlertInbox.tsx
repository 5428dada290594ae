/** What somebody has to deal with, the newest first, for the overview; the whole inbox is a click away. */

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
    <Section title={t`Alerts to be dealt with`}>
      <Loaded empty={<NoAlert />} lines={2} query={alerts}>
        {(rows) => (
          <Stack gap="xs">
            <AlertTable alerts={rows.slice(0, MOST_SHOWN)} isOfSeveral label={t`Open alerts`} />
            <TextLink size="sm" to="/alerts">
              {count > MOST_SHOWN
                ? t`All ${count}${alerts.hasNextPage ? t` and more` : ""} of them`
                : t`The whole inbox`}
            </TextLink>
          </Stack>
        )}
      </Loaded>
    </Section>
  );
}

/** Without a rule, no alert means nothing. */
function NoAlert() {
  const rules = useQuery(alertRulesQuery);
  const hasNoRule = rules.data?.length === 0;
  return (
    <Text c="dimmed">
      {hasNoRule ? t`No alert rule is set, so nothing raises an alert.` : t`None.`}{" "}
      <TextLink to="/settings" underline="always">
        {hasNoRule ? t`Add an alert rule` : t`Alert rules`}
      </TextLink>
    </Text>
  );
}
