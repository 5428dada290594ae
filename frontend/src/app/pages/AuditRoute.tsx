/** /settings/audit: its filters are in the address. */

import { useQuery } from "@tanstack/react-query";
import { getRouteApi } from "@tanstack/react-router";
import { AuditPage } from "@/features/accounts/AuditPage";
import { clustersQuery } from "@/features/clusters/queries";

const route = getRouteApi("/shell/settings/audit");

export default function AuditRoute() {
  const view = route.useSearch();
  const navigate = route.useNavigate();
  const { data: clusters = [] } = useQuery(clustersQuery);
  return (
    <AuditPage
      clusters={clusters}
      onView={(change) => void navigate({ search: (shown) => ({ ...shown, ...change }), replace: true })}
      view={view}
    />
  );
}
