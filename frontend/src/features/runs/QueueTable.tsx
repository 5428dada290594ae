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
    <Loaded empty={t`The queue is empty.`} isEmpty={({ runs }) => runs.length === 0} lines={8} query={queue}>
      {({ runs, waiting }) => (
        <Stack>
          <ScrollTable
            head={["#", t`Run`, t`Campaign`, t`Priority`, t`Node and target`, t`Waiting reason`, t`Since`]}
            label={t`Queue`}
          >
            {runs.map((run, place) => (
              <QueueRow key={run.run_id} place={place + 1} run={run} />
            ))}
          </ScrollTable>
          {waiting > runs.length && <Hint>{t`${waiting - runs.length} more runs are waiting.`}</Hint>}
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

const HEAD = [t`Next run`, t`Node and target`, t`Waiting reason`];

export function WaitingRuns({ clusterId, campaignId }: { clusterId: number; campaignId: number }) {
  const queue = useQuery(campaignQueueQuery(clusterId, campaignId));
  return (
    <Loaded isEmpty={({ runs }) => runs.length === 0} query={queue}>
      {({ runs, waiting }) => (
        <Stack gap={4}>
          <ScrollTable head={HEAD} label={t`Waiting reasons`}>
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
            {waiting > runs.length && t`${waiting - runs.length} more runs are waiting. `}
            <TextLink
              params={{ clusterId }}
              to="/queues/$clusterId"
            >{t`Show the queue of the cluster`}</TextLink>
          </Hint>
        </Stack>
      )}
    </Loaded>
  );
}
