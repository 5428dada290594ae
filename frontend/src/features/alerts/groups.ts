/** Alerts that belong together stand together; pure. */

import { t } from "@lingui/core/macro";
import type { Alert } from "@/api/types";

export interface Together {
  readonly key: string;
  readonly alerts: readonly Alert[];
  /** A control workload changed along with them. */
  readonly isEnvironment: boolean;
}

/** Each group at the place of its first alert, with its others behind that one. */
export function groupAlerts(alerts: readonly Alert[]): Together[] {
  const groups = new Map<string, Alert[]>();
  for (const alert of alerts) {
    const key = alert.group ? t`group ${alert.group.id}` : t`alert ${alert.id}`;
    groups.set(key, [...(groups.get(key) ?? []), alert]);
  }
  return [...groups].map(([key, own]) => ({
    key,
    alerts: own,
    isEnvironment: own.some(({ group }) => group?.is_environment),
  }));
}
