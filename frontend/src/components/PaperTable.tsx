import { Box } from "@mantine/core";
import type { ReactNode } from "react";

interface PaperTableProps {
  readonly label: string;
  readonly head: readonly string[];
  readonly children: ReactNode;
}

export function PaperTable({ label, head, children }: PaperTableProps) {
  return (
    <Box aria-label={label} className="scroll" role="group" tabIndex={0}>
      <table aria-label={label}>
        <thead>
          <tr>
            {head.map((title) => (
              <th key={title} scope="col">
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
