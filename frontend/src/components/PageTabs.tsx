/** Links between pages that share an entry of the menu. */

import { Group } from "@mantine/core";
import { ButtonLink } from "./links";

interface PageTabsProps {
  readonly label: string;
  readonly tabs: readonly {
    readonly to:
      | `/settings${"" | "/tokens" | "/people" | "/audit"}`
      | `/${"compare" | "peers" | "surfaces" | "published"}`;
    readonly label: string;
  }[];
}

export function PageTabs({ label, tabs }: PageTabsProps) {
  return (
    <Group aria-label={label} component="nav" gap="xs">
      {tabs.map((tab) => (
        <ButtonLink
          activeOptions={{ exact: true, includeSearch: false }}
          activeProps={{ variant: "light" }}
          key={tab.to}
          size="compact-md"
          to={tab.to}
          variant="default"
        >
          {tab.label}
        </ButtonLink>
      ))}
    </Group>
  );
}
