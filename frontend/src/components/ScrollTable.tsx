/** A table that scrolls sideways inside its card; the scrolling part can be reached by keyboard. */

import { Box } from "@mantine/core";
import type { ReactNode } from "react";

interface ScrollTableProps {
  readonly label: string;
  readonly head: readonly ReactNode[];
  /** Rows as plain tr and td: Mantine's table would bring its scroll area into the first paint. */
  readonly children: ReactNode;
  readonly maxHeight?: number;
}

export function ScrollTable({ label, head, children, maxHeight }: ScrollTableProps) {
  return (
    <Box aria-label={label} mah={maxHeight} role="region" style={{ overflow: "auto" }} tabIndex={0}>
      <table aria-label={label} className="iotide-table">
        <thead>
          <tr>
            {head.map((title, column) => (
              // biome-ignore lint/suspicious/noArrayIndexKey: columns never move
              <th key={column} scope="col">
                {title}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>{children}</tbody>
      </table>
    </Box>
  );
}
