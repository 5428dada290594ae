/** /clusters/ID/trend: one workload at a time, all choices in the address. */

import { Group, NativeSelect, Text } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { getRouteApi } from "@tanstack/react-router";
import type { Workload } from "@/api/types";
import { Loaded } from "@/components/Loaded";
import { Section } from "@/components/Page";
import { PointRuns } from "@/features/runs/RunsSection";
import { TrendSection } from "@/features/trends/TrendSection";
import { workloadsQuery } from "@/features/workloads/queries";
import { ClusterPage } from "./ClusterPage";
import { TellEvent } from "./TellEvent";

const route = getRouteApi("/shell/clusters/$clusterId/trend");

export default function TrendRoute() {
  const { clusterId } = route.useParams();
  const navigate = route.useNavigate();
  const workloads = useQuery(workloadsQuery(clusterId));
  return (
    <ClusterPage
      actions={(cluster) => <TellEvent cluster={cluster} />}
      clusterId={clusterId}
      onChoose={(chosen) => void navigate({ params: { clusterId: chosen }, search: {} })}
      title={(name) => `Trend of ${name}`}
    >
      {() => (
        <Loaded
          empty={<Text c="dimmed">No agent of this cluster has announced a workload yet.</Text>}
          isEmpty={(rows) => rows.length === 0}
          lines={8}
          query={workloads}
        >
          {(rows) => <WorkloadTrend workloads={rows} />}
        </Loaded>
      )}
    </ClusterPage>
  );
}

function WorkloadTrend({ workloads }: { workloads: readonly Workload[] }) {
  const { clusterId } = route.useParams();
  const view = route.useSearch();
  const navigate = route.useNavigate();
  const workload = workloads.find(({ name }) => name === view.workload) ?? workloads[0];
  if (!workload) return null;
  return (
    <Section
      actions={
        <Group gap="xs">
          <NativeSelect
            aria-label="Workload"
            data={workloads.map(({ name, title }) => ({ value: name, label: title }))}
            onChange={(event) => void navigate({ search: { workload: event.currentTarget.value } })}
            value={workload.name}
          />
        </Group>
      }
      description="One dot a cell: the median of its valid runs, with whiskers over their range. A hollow dot carries a flag."
      title={workload.title}
    >
      <TrendSection
        clusterId={clusterId}
        onView={(change) => void navigate({ search: { ...view, ...change }, replace: true })}
        renderRuns={(point) => <PointRuns {...point} />}
        view={view}
        workload={workload}
      />
    </Section>
  );
}
