/** What a node can run, and what it has mounted. */

import { t } from "@lingui/core/macro";
import { Badge, Text } from "@mantine/core";
import type { Node } from "@/api/types";
import { Row, ScrollTable } from "@/components/ScrollTable";
import { Quantity } from "@/components/values";

export function ToolTable({ node }: { node: Node }) {
  if (node.workloads.length === 0) return <Text c="dimmed">{t`The agent has announced none yet.`}</Text>;
  return (
    <ScrollTable head={[t`Workload`, t`Runs here`, t`Tool`]} label={t`Workloads of ${node.name}`}>
      {node.workloads.map(({ name, revision, available, tool_version, unavailable_because }) => (
        <Row key={`${name} ${revision}`}>
          <td className="iotide-strong">
            {name}
            {revision > 1 && (
              <Text c="dimmed" inherit span>
                {t` revision ${revision}`}
              </Text>
            )}
          </td>
          <Badge color={available ? "green" : "orange"} miw="max-content">
            {available ? t`yes` : t`no`}
          </Badge>
          <td className="iotide-wrap">
            {available ? (tool_version ?? t`needs none`) : (unavailable_because ?? t`unavailable`)}
          </td>
        </Row>
      ))}
    </ScrollTable>
  );
}

export function MountTable({ node }: { node: Node }) {
  if (node.mounts.length === 0) return <Text c="dimmed">{t`The agent has named no mount yet.`}</Text>;
  return (
    <ScrollTable
      head={[t`Path`, t`File system`, t`Source`, t`Size`, t`Free`, t`Runs may write`]}
      label={t`Mounts of ${node.name}`}
    >
      {node.mounts.map((mount) => (
        <Row key={mount.path}>
          <td className="iotide-name">{mount.path}</td>
          {mount.fstype}
          <td className="iotide-name">{mount.source}</td>
          <Quantity unit="bytes" value={mount.total_bytes} />
          <Quantity unit="bytes" value={mount.free_bytes} />
          {mount.approved ? t`yes` : t`no`}
        </Row>
      ))}
    </ScrollTable>
  );
}
