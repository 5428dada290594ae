/** /clusters/ID/trend: one workload at a time, all choices in the address. */

import { Group, NativeSelect, Text } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { getRouteApi } from "@tanstack/react-router";
import type { Workload } from "@/api/types";
import { Loaded } from "@/components/Loaded";
import { OptionTitles } from "@/components/optionTitles";
import { Page, Section } from "@/components/Page";
import { clustersQuery } from "@/features/clusters/queries";
import { PointRuns } from "@/features/runs/RunsSection";
import { TrendSection } from "@/features/trends/TrendSection";
import { workloadsQuery } from "@/features/workloads/queries";
import { ClusterChoice } from "./ClusterChoice";

const route = getRouteApi("/shell/clusters/$clusterId/trend");

export default function TrendRoute() {
  const { clusterId } = route.useParams();
  const navigate = route.useNavigate();
  const { data: clusters = [] } = useQuery(clustersQuery);
  const workloads = useQuery(workloadsQuery(clusterId));
  const name = clusters.find(({ id }) => id === clusterId)?.name ?? String(clusterId);
  return (
    <Page
      actions={
        <ClusterChoice
          clusterId={clusterId}
          clusters={clusters}
          onChoose={(chosen) => void navigate({ params: { clusterId: chosen }, search: {} })}
        />
      }
      title={`Trend of ${name}`}
    >
      <Loaded
        empty={<Text c="dimmed">No agent of this cluster has announced a workload yet.</Text>}
        isEmpty={(rows) => rows.length === 0}
        lines={8}
        query={workloads}
      >
        {(rows) => (
          <OptionTitles workloads={rows}>
            <WorkloadTrend workloads={rows} />
          </OptionTitles>
        )}
      </Loaded>
    </Page>
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
