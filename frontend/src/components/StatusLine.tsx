/** State of a node or target in one line below the heading. */

import { Group } from "@mantine/core";
import type { ReactNode } from "react";

export function StatusLine({ children }: { children: ReactNode }) {
  return (
    <Group fz="lg" style={{ gap: "4px 16px" }}>
      {children}
    </Group>
  );
}
