import { t } from "@lingui/core/macro";
import { useClusters } from "@/components/Origin";
import { hasRole, usePrincipal } from "@/components/session";
import { NotificationsSection } from "@/features/notifications/NotificationsSection";

export default function Notifications() {
  const principal = usePrincipal();
  const clusters = useClusters();
  const scopes = clusters
    .filter(({ id, origin }) => origin !== "published" && hasRole(principal, "admin", id))
    .map(({ id, name }) => ({ value: String(id), label: name }));
  const all = hasRole(principal, "admin", null) ? [{ value: "", label: t`all clusters` }] : [];
  return <NotificationsSection scopes={[...all, ...scopes]} />;
}
