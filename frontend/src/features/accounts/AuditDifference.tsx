/** One change field by field: what it was, what it is. */

import { t } from "@lingui/core/macro";
import { Code, Table, Text } from "@mantine/core";
import type { AuditEntry } from "@/api/types";
import { differences } from "./audit";

export function AuditDifference({ entry }: { entry: AuditEntry }) {
  return (
    <Table aria-label={t`Before and after`} layout="fixed" maw={900} withRowBorders={false}>
      <Table.Thead>
        <Table.Tr>
          <Table.Th>{t`Field`}</Table.Th>
          <Table.Th>{t`Before`}</Table.Th>
          <Table.Th>{t`After`}</Table.Th>
        </Table.Tr>
      </Table.Thead>
      <Table.Tbody>
        {differences(entry).map(({ field, before, after, isChanged }) => (
          <Table.Tr key={field}>
            <Table.Td fw={isChanged ? 600 : undefined}>{field.replaceAll("_", " ")}</Table.Td>
            <Table.Td>
              <Value text={before} />
            </Table.Td>
            <Table.Td>
              <Value text={after} />
            </Table.Td>
          </Table.Tr>
        ))}
      </Table.Tbody>
    </Table>
  );
}

function Value({ text }: { text: string | null }) {
  if (text === null) return <Text c="dimmed" component="span">{t`–`}</Text>;
  return <Code style={{ overflowWrap: "anywhere", whiteSpace: "pre-wrap" }}>{text}</Code>;
}
