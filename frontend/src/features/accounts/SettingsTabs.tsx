import { t } from "@lingui/core/macro";
import { PageTabs } from "@/components/PageTabs";
import { useMay, useMaySomewhere } from "@/components/session";

const ALL = [
  { to: "/settings", label: t`General` },
  { to: "/settings/tokens", label: t`Tokens` },
  { to: "/settings/people", label: t`People` },
  { to: "/settings/audit", label: t`Audit` },
] as const;

export function SettingsTabs() {
  const mayOpen = {
    "/settings": true,
    "/settings/tokens": true,
    "/settings/people": useMay("admin", null),
    "/settings/audit": useMaySomewhere("admin"),
  };
  return <PageTabs label={t`Settings pages`} tabs={ALL.filter(({ to }) => mayOpen[to])} />;
}
