/** Short facts side by side, which wrap on a narrow screen. */

import { Group, Text } from "@mantine/core";
import type { ReactNode } from "react";
import { Detail } from "./looks";

export function DefinitionRow({ children }: { children: ReactNode }) {
  return (
    <Group align="flex-start" className="iotide-definitions" component="dl" gap="xs 24px" m={0}>
      {children}
    </Group>
  );
}

export function Fact({ label, children }: { label: string; children: ReactNode }) {
  return (
    <div>
      <Detail component="dt">{label}</Detail>
      <Text component="dd" m={0} size="sm" style={{ overflowWrap: "anywhere" }}>
        {children}
      </Text>
    </div>
  );
}
