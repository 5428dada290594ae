/** /settings/audit: filters are in the address. */

import { getRouteApi } from "@tanstack/react-router";
import { AuditPage } from "@/features/accounts/AuditPage";

const route = getRouteApi("/shell/settings/audit");

export default function AuditRoute() {
  const view = route.useSearch();
  const navigate = route.useNavigate();
  return (
    <AuditPage
      onView={(change) => void navigate({ search: (shown) => ({ ...shown, ...change }), replace: true })}
      view={view}
    />
  );
}
