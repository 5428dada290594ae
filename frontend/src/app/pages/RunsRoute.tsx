/** /runs: all runs that the user may see. All choices are in the address. */

import { t } from "@lingui/core/macro";
import { useQuery } from "@tanstack/react-query";
import { getRouteApi, useRouter } from "@tanstack/react-router";
import { useMemo } from "react";
import { nodeLinesQuery } from "@/features/clusters/queries";
import { RunsExplorer } from "@/features/explorer/RunsExplorer";
import type { ExplorerView } from "@/features/explorer/view";
import { targetsQuery } from "@/features/targets/queries";
import { workloadsQuery } from "@/features/workloads/queries";
import { ClustersPage } from "./ClusterPage";

const route = getRouteApi("/shell/runs");

export default function RunsRoute() {
  const view = route.useSearch();
  const { cluster } = view;
  const navigate = route.useNavigate();
  const router = useRouter();
  const { data: workloads = [] } = useQuery(workloadsQuery(cluster));
  const { data: nodes = [] } = useQuery({ ...nodeLinesQuery(cluster ?? 0), enabled: cluster !== undefined });
  const { data: targets = [] } = useQuery({ ...targetsQuery(cluster ?? 0), enabled: cluster !== undefined });
  const names = useMemo(() => [...new Set(workloads.map(({ name }) => name))].sort(), [workloads]);
  const choose = (change: ExplorerView) => void navigate({ search: { ...view, ...change }, replace: true });
  const { view: _opened, ...kept } = view;
  const stringify = router.options.stringifySearch;
  return (
    <ClustersPage
      clusterId={cluster}
      onChoose={(chosen) => choose({ cluster: chosen, node: undefined, target: undefined })}
      title={t`Runs`}
    >
      {() => (
        <RunsExplorer
          choices={{ workloads: names, nodes, targets }}
          onOpen={(query, opened) => {
            const search = router.options.parseSearch(`?${query}`);
            void navigate({ search: { ...search, view: opened } });
          }}
          onView={choose}
          query={stringify(kept).replace(/^\?/, "")}
          view={view}
        />
      )}
    </ClustersPage>
  );
}
