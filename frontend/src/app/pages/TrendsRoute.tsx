/** /trends: choice of a cluster. */

import { t } from "@lingui/core/macro";
import { Stack } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { TextLink } from "@/components/links";
import { Hint } from "@/components/looks";
import { OriginBadge } from "@/components/Origin";
import { Loaded, Page, Section } from "@/components/Page";
import { clustersQuery } from "@/features/clusters/queries";
import { NoCluster } from "./ClusterPage";

export default function TrendsRoute() {
  const clusters = useQuery(clustersQuery);
  return (
    <Page title={t`Trends`}>
      <Section description={t`Performance over time, per cluster.`} title={t`Clusters`}>
        <Loaded empty={<NoCluster />} query={clusters}>
          {(rows) => (
            <Stack gap="xs">
              {rows.map(({ id, name, description }) => (
                <div key={id}>
                  <TextLink fw={600} params={{ clusterId: id }} to="/clusters/$clusterId/trend">
                    {name}
                  </TextLink>{" "}
                  <OriginBadge clusterId={id} />
                  <Hint>{description}</Hint>
                </div>
              ))}
            </Stack>
          )}
        </Loaded>
      </Section>
    </Page>
  );
}
