import { t } from "@lingui/core/macro";
import { Group } from "@mantine/core";
import { ButtonLink } from "@/components/links";
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
  return (
    <Group aria-label={t`Settings pages`} component="nav" gap="xs">
      {ALL.filter(({ to }) => mayOpen[to]).map(({ to, label }) => (
        <ButtonLink
          activeOptions={{ exact: true, includeSearch: false }}
          activeProps={{ variant: "light" }}
          key={to}
          size="compact-md"
          to={to}
          variant="default"
        >
          {label}
        </ButtonLink>
      ))}
    </Group>
  );
}
