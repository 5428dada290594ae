import { t } from "@lingui/core/macro";
import { Trans } from "@lingui/react/macro";
import { Text } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { Fragment } from "react";
import { TextLink } from "@/components/links";
import { formatFiring, shownTimeZone } from "@/lib/time";
import { nextFirings } from "./next";
import { schedulesQuery } from "./queries";

const MOST_SHOWN = 3;

/** The next campaigns of schedules in one line; hidden without any. */
export function NextFirings() {
  const { data: schedules = [] } = useQuery(schedulesQuery);
  const next = nextFirings(schedules).slice(0, MOST_SHOWN);
  if (next.length === 0) return null;
  return (
    <Text aria-label={t`Next campaigns`} component="section" size="sm">
      <Trans>
        <strong>Next:</strong>{" "}
      </Trans>
      {next.map(({ at, schedule }, place) => (
        <Fragment key={schedule.id}>
          {place > 0 && " · "}
          {formatFiring(at, shownTimeZone())}{" "}
          <TextLink fw={600} to="/schedules">
            {schedule.name}
          </TextLink>{" "}
          ({schedule.cluster_name})
        </Fragment>
      ))}
    </Text>
  );
}
