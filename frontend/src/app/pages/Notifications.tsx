/** The settings' section of notifications, with the clusters that a channel may tell of. */

import { t } from "@lingui/core/macro";
import { useQuery } from "@tanstack/react-query";
import { hasRole, usePrincipal } from "@/components/session";
import { clustersQuery } from "@/features/clusters/queries";
import { NotificationsSection } from "@/features/notifications/NotificationsSection";

export default function Notifications() {
  const principal = usePrincipal();
  const { data: clusters = [] } = useQuery(clustersQuery);
  const scopes = clusters
    .filter(({ id, origin }) => origin !== "published" && hasRole(principal, "admin", id))
    .map(({ id, name }) => ({ value: String(id), label: name }));
  const all = hasRole(principal, "admin", null) ? [{ value: "", label: t`all clusters` }] : [];
  return <NotificationsSection scopes={[...all, ...scopes]} />;
}
