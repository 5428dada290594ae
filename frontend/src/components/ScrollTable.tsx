/** A table that scrolls sideways inside its card, with a shadow where it goes on; it can be scrolled by keyboard. */

import { Box, VisuallyHidden } from "@mantine/core";
import type { ReactNode } from "react";

interface ScrollTableProps {
  readonly label: string;
  /** Column titles; an empty one stands above buttons and links. */
  readonly head: readonly string[];
  /** Rows as plain tr and td: Mantine's table would bring its scroll area into the first paint. */
  readonly children: ReactNode;
  readonly maxHeight?: number;
}

export function ScrollTable({ label, head, children, maxHeight }: ScrollTableProps) {
  return (
    <Box aria-label={label} className="iotide-scroll" mah={maxHeight} role="group" tabIndex={0}>
      <table aria-label={label} className="iotide-table" data-scrolls={maxHeight !== undefined}>
        <thead>
          <tr>
            {head.map((title, column) => (
              // biome-ignore lint/suspicious/noArrayIndexKey: columns never move
              <th key={column} scope="col">
                {title === "" ? <VisuallyHidden>Actions</VisuallyHidden> : title}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>{children}</tbody>
      </table>
    </Box>
  );
}
