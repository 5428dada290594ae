/** Facts of a node, a mount or a run: flat names and values in base units. */

import { t } from "@lingui/core/macro";
import { Code } from "@mantine/core";
import { OptionValue } from "./OptionValue";
import { Row } from "./Row";
import { ScrollTable } from "./ScrollTable";

interface FactsTableProps {
  readonly label: string;
  readonly facts: Readonly<Record<string, unknown>>;
  readonly maxHeight?: number;
}

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
