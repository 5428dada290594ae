/** What waits in a cluster, the first to be served first, and why. */

import { t } from "@lingui/core/macro";
import { Stack } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import type { Queue } from "@/api/types";
import { CampaignLink, RunLink, TextLink } from "@/components/links";
import { Detail, Hint } from "@/components/looks";
import { Loaded } from "@/components/Page";
import { Place } from "@/components/Place";
import { Row, ScrollTable } from "@/components/ScrollTable";
import { When } from "@/components/values";
import { campaignQueueQuery, queueQuery } from "./queries";

type QueuedRun = Queue["runs"][number];

export function QueueTable({ clusterId }: { clusterId: number }) {
  const queue = useQuery(queueQuery(clusterId));
  return (
    <Loaded empty={t`No run waits here.`} isEmpty={({ runs }) => runs.length === 0} lines={8} query={queue}>
      {({ runs, waiting }) => (
        <Stack>
          <ScrollTable
            head={["#", t`Run`, t`Campaign`, t`Priority`, t`Node and target`, t`Waits because`, t`Since`]}
            label={t`Queue`}
          >
            {runs.map((run, place) => (
              <QueueRow key={run.run_id} place={place + 1} run={run} />
            ))}
          </ScrollTable>
          {waiting > runs.length && <Hint>{t`${waiting - runs.length} more runs wait behind these.`}</Hint>}
        </Stack>
      )}
    </Loaded>
  );
}

function QueueRow({ run, place }: { run: QueuedRun; place: number }) {
  return (
    <Row>
      {place}
      <td>
        <RunLink fw={600} id={run.run_id} />
        <Detail>{t`${run.workload}, repeat ${run.repeat}`}</Detail>
      </td>
      <td className="iotide-name">
        <CampaignLink id={run.campaign_id} name={run.campaign_name} />
        <Detail>{run.owner}</Detail>
      </td>
      {run.priority}
      <td className="iotide-name">
        <Place of={run} />
      </td>
      <td className="iotide-wrap">{run.waiting_because}</td>
      <When at={run.created_at} />
    </Row>
  );
}

const HEAD = [t`Next run`, t`Node and target`, t`Waits because`];

/** The runs of a campaign that are served next, and what each of them waits for. */
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
