/** /settings */

import { SettingsPage } from "@/features/accounts/SettingsPage";
import { AlertRules } from "./AlertRules";

export default function SettingsRoute() {
  return (
    <SettingsPage>
      <AlertRules />
    </SettingsPage>
  );
}
