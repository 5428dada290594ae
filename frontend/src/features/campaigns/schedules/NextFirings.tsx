import { t } from "@lingui/core/macro";
import { Trans } from "@lingui/react/macro";
import { Text } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { TextLink } from "@/components/links";
import { Loaded, Section } from "@/components/Page";
import { ScrollTable } from "@/components/ScrollTable";
import { formatFiring, shownTimeZone } from "@/lib/time";
import { nextFirings } from "./next";
import { schedulesQuery } from "./queries";

const MOST_SHOWN = 5;

export function NextFirings() {
  const schedules = useQuery(schedulesQuery);
  const next = schedules.data && nextFirings(schedules.data).slice(0, MOST_SHOWN);
  return (
    <Section title={t`Next campaigns`}>
      <Loaded empty={<NothingPlanned />} lines={2} query={{ ...schedules, data: next }}>
        {(rows) => (
          <ScrollTable head={[t`When`, t`Schedule`, t`Cluster`]} label={t`Next campaigns`}>
            {rows.map(({ at, schedule }) => (
              <tr key={schedule.id}>
                <td>{formatFiring(at, shownTimeZone())}</td>
                <td className="iotide-name">
                  <TextLink fw={600} to="/schedules">
                    {schedule.name}
                  </TextLink>
                </td>
                <td>{schedule.cluster_name}</td>
              </tr>
            ))}
          </ScrollTable>
        )}
      </Loaded>
    </Section>
  );
}

function NothingPlanned() {
  return (
    <Text c="dimmed">
      <Trans>
        No active schedules. Create one in the{" "}
        <TextLink to="/campaigns/new" underline="always">
          campaign builder
        </TextLink>
        .
      </Trans>
    </Text>
  );
}
