/** /settings */

import { useQuery } from "@tanstack/react-query";
import { lazy, Suspense } from "react";
import { useMaySomewhere } from "@/components/session";
import { SettingsPage } from "@/features/accounts/SettingsPage";
import { clustersQuery } from "@/features/clusters/queries";
import { AlertRules } from "./AlertRules";

const Notifications = lazy(() => import("./Notifications"));

export default function SettingsRoute() {
  const isOperator = useMaySomewhere("operator");
  const { data: clusters = [] } = useQuery(clustersQuery);
  return (
    <SettingsPage clusters={clusters}>
      <AlertRules />
      <Suspense>{isOperator && <Notifications />}</Suspense>
    </SettingsPage>
  );
}
