/** The runs of a campaign that are served next, and what each of them waits for. */

import { t } from "@lingui/core/macro";
import { Stack } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { RunLink, TextLink } from "@/components/links";
import { Hint } from "@/components/looks";
import { Loaded } from "@/components/Page";
import { Place } from "@/components/Place";
import { Row, ScrollTable } from "@/components/ScrollTable";
import { campaignQueueQuery } from "./queries";

const HEAD = [t`Next run`, t`Node and target`, t`Waits because`];

export function WaitingRuns({ clusterId, campaignId }: { clusterId: number; campaignId: number }) {
  const queue = useQuery(campaignQueueQuery(clusterId, campaignId));
  return (
    <Loaded isEmpty={({ runs }) => runs.length === 0} query={queue}>
      {({ runs, waiting }) => (
        <Stack gap={4}>
          <ScrollTable head={HEAD} label={t`Why runs wait`}>
            {runs.map((run) => (
              <Row key={run.run_id}>
                <RunLink fw={600} id={run.run_id} />
                <td className="iotide-name">
                  <Place of={run} />
                </td>
                <td className="iotide-wrap">{run.waiting_because}</td>
              </Row>
            ))}
          </ScrollTable>
          <Hint>
            {waiting > runs.length && t`${waiting - runs.length} more wait behind these. `}
            <TextLink
              params={{ clusterId }}
              to="/queues/$clusterId"
            >{t`The whole queue of the cluster`}</TextLink>
          </Hint>
        </Stack>
      )}
    </Loaded>
  );
}
