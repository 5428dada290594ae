/** /settings */

import { lazy, Suspense } from "react";
import { useMaySomewhere } from "@/components/session";
import { SettingsPage } from "@/features/accounts/SettingsPage";
import { AlertRules } from "./AlertRules";

const Notifications = lazy(() => import("./Notifications"));

export default function SettingsRoute() {
  const isOperator = useMaySomewhere("operator");
  return (
    <SettingsPage>
      <AlertRules />
      <Suspense>{isOperator && <Notifications />}</Suspense>
    </SettingsPage>
  );
}
