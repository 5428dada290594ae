/** Short facts side by side, which wrap on a narrow screen. */

import { Group, Text } from "@mantine/core";
import type { ReactNode } from "react";
import { Detail } from "./looks";

export function DefinitionRow({ children }: { children: ReactNode }) {
  return (
    <Group
      align="flex-start"
      className="iotide-definitions"
      component="dl"
      m={0}
      style={{ gap: "10px 24px" }}
    >
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
