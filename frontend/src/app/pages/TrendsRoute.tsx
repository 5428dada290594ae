/** /trends: leads to the trend of the first cluster. */

import { useQuery } from "@tanstack/react-query";
import { Navigate } from "@tanstack/react-router";
import { Loaded } from "@/components/Loaded";
import { clustersQuery } from "@/features/clusters/queries";
import { NoCluster } from "./NoCluster";

export default function TrendsRoute() {
  const clusters = useQuery(clustersQuery);
  return (
    <Loaded query={clusters}>
      {([first]) =>
        first ? (
          <Navigate params={{ clusterId: first.id }} replace to="/clusters/$clusterId/trend" />
        ) : (
          <NoCluster />
        )
      }
    </Loaded>
  );
}
