/** A table that scrolls sideways inside its card, also by keyboard, and can be exported. */

import { t } from "@lingui/core/macro";
import { Box, Code, VisuallyHidden } from "@mantine/core";
import { Children, type ComponentPropsWithRef, isValidElement, type ReactNode, useRef } from "react";
import type { ExportTable } from "@/lib/exported";
import { tableData } from "@/lib/tableData";
import { ExportMenu } from "./ExportMenu";
import type { ExportSource } from "./export/ExportButton";
import { OptionValue } from "./OptionValue";

interface ScrollTableProps {
  readonly label: string;
  /** Column titles; empty above buttons and links. */
  readonly head: readonly string[];
  /** Rows as plain tr and td: Mantine's table would add its scroll area to the first paint. */
  readonly children: ReactNode;
  readonly maxHeight?: number;
  /** Source of the export menu. Without a table of its own, the menu exports the rows shown. */
  readonly exported?: Partial<ExportSource>;
}

export function ScrollTable({ label, head, children, maxHeight, exported }: ScrollTableProps) {
  const table = useRef<HTMLTableElement>(null);
  const readRows = (): ExportTable => (table.current ? tableData(table.current) : { columns: [], rows: [] });
  return (
    <Box className="iotide-exported">
      <Box aria-label={label} className="iotide-scroll" mah={maxHeight} role="group" tabIndex={0}>
        <table
          aria-label={label}
          className="iotide-table"
          data-exported={exported?.table ? undefined : "rows"}
          data-scrolls={maxHeight !== undefined}
          ref={table}
        >
          <thead>
            <tr>
              {head.map((title, column) => (
                // biome-ignore lint/suspicious/noArrayIndexKey: columns never move
                <th data-actions={title === "" || undefined} key={column} scope="col">
                  {title === "" ? <VisuallyHidden>{t`Actions`}</VisuallyHidden> : title}
                </th>
              ))}
            </tr>
          </thead>
          <tbody>{children}</tbody>
        </table>
      </Box>
      <ExportMenu name={label} table={readRows} {...exported} />
    </Box>
  );
}

/** A table row. Each child becomes a cell, except one that already is a `td`. */
export function Row({ children, ...row }: ComponentPropsWithRef<"tr">) {
  return (
    <tr {...row}>
      {Children.map(children, (cell) =>
        isValidElement(cell) && cell.type === "td" ? cell : <td>{cell}</td>,
      )}
    </tr>
  );
}

interface FactsTableProps {
  readonly label: string;
  readonly facts: Readonly<Record<string, unknown>>;
  readonly maxHeight?: number;
}

/** Facts of a node, mount or run: names and values in base units. */
export function FactsTable({ label, facts, ...size }: FactsTableProps) {
  return (
    <ScrollTable head={[t`Fact`, t`Value`]} label={label} {...size}>
      {Object.entries(facts)
        .sort(([a], [b]) => a.localeCompare(b))
        .map(([name, value]) => (
          <Row key={name}>
            <Code>{name}</Code>
            <td className="iotide-wrap" title={String(value)}>
              <OptionValue name={name} value={value} />
            </td>
          </Row>
        ))}
    </ScrollTable>
  );
}
