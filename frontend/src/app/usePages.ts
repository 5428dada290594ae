/** Commands that open a page that the user may see. */

import { t } from "@lingui/core/macro";
import { useNavigate } from "@tanstack/react-router";
import { useIsLoggedIn, useMay, useMaySomewhere } from "@/components/session";
import type { Command } from "./commands";
import { COMPARE_TABS, PLACES } from "./places";

const PAGES = [
  ...PLACES.filter(({ to }) => to !== "/compare"),
  ...COMPARE_TABS,
  { to: "/settings/tokens", label: t`API tokens` },
  { to: "/settings/people", label: t`People` },
  { to: "/settings/audit", label: t`Audit` },
] as const;

export function usePages(): Command[] {
  const navigate = useNavigate();
  const isLoggedIn = useIsLoggedIn();
  const closed = new Set<string>([
    ...(isLoggedIn ? [] : ["/settings", "/settings/tokens"]),
    ...(useMay("admin", null) ? [] : ["/settings/people"]),
    ...(useMaySomewhere("admin") ? [] : ["/settings/audit"]),
  ]);
  return PAGES.filter(({ to }) => !closed.has(to)).map(
    ({ to, label }): Command => ({ id: to, label, group: "Page", run: () => void navigate({ to }) }),
  );
}
