/** A table that scrolls sideways inside its card; the scrolling part can be reached by keyboard. */

import { Box, Table } from "@mantine/core";
import type { ReactNode } from "react";

interface ScrollTableProps {
  readonly label: string;
  readonly head: readonly ReactNode[];
  readonly children: ReactNode;
  readonly maxHeight?: number;
}

export function ScrollTable({ label, head, children, maxHeight }: ScrollTableProps) {
  return (
    <Box aria-label={label} mah={maxHeight} role="region" style={{ overflow: "auto" }} tabIndex={0}>
      <Table
        aria-label={label}
        className="iotide-table"
        stickyHeader={maxHeight !== undefined}
        verticalSpacing={6}
      >
        <Table.Thead>
          <Table.Tr>
            {head.map((title, column) => (
              // biome-ignore lint/suspicious/noArrayIndexKey: columns never move
              <Table.Th key={column} scope="col">
                {title}
              </Table.Th>
            ))}
          </Table.Tr>
        </Table.Thead>
        <Table.Tbody>{children}</Table.Tbody>
      </Table>
    </Box>
  );
}
