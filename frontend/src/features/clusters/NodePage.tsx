import { t } from "@lingui/core/macro";
import { Trans } from "@lingui/react/macro";
import { Badge, Stack, Text } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import type { ReactNode } from "react";
import type { Node } from "@/api/types";
import { StateBadge } from "@/components/badges";
import { DefinitionRow, Fact } from "@/components/DefinitionRow";
import { DrainNote } from "@/components/drain/DrainButton";
import { Fold } from "@/components/Fold";
import { Hint } from "@/components/looks";
import { ManageMenu } from "@/components/ManageMenu";
import { useClusters } from "@/components/Origin";
import { LoadedPage, Page } from "@/components/Page";
import { PlaceTrail } from "@/components/Place";
import { FactsTable, Row, ScrollTable } from "@/components/ScrollTable";
import { StatusLine } from "@/components/StatusLine";
import { StuckNote } from "@/components/StuckNote";
import { Quantity, When } from "@/components/values";
import { AgentVersion } from "./AgentVersion";
import { describeNode } from "./facts";
import { NodeActivity } from "./NodeActivity";
import { NodeDecisionButtons } from "./NodeDecisionButtons";
import { ClockOffset, CredentialsAge } from "./NodeIdentity";
import { useNodeActions } from "./nodeActions";
import { nodeQuery } from "./queries";

interface NodePageProps {
  readonly nodeId: number;
  /** Rendered by other features. */
  readonly status: (node: Node) => ReactNode;
  readonly trends: (node: Node) => ReactNode;
  readonly links: (node: Node) => ReactNode;
  readonly targets: (node: Node) => ReactNode;
  readonly scratch: (node: Node) => ReactNode;
  readonly runs: ReactNode;
  readonly history: ReactNode;
}

export function NodePage({ nodeId, ...parts }: NodePageProps) {
  const node = useQuery(nodeQuery(nodeId));
  return (
    <LoadedPage query={node} title={t`Node ${nodeId}`}>
      {(found) => (
        <Page
          actions={
            <>
              {parts.links(found)}
              <Actions node={found} />
            </>
          }
          title={t`Node ${found.name}`}
          trail={<PlaceTrail clusterId={found.cluster_id} />}
        >
          <StatusLine>
            <StateBadge state={found.state} />
            <Text c="dimmed" inherit span>
              <Trans>
                last seen <When at={found.last_seen_at} />
              </Trans>
            </Text>
            {parts.status(found)}
          </StatusLine>
          <DrainNote drain={found.drain} />
          <Stuck node={found} />
          <NodeFacts node={found} />
          {parts.trends(found)}
          {parts.runs}
          <Stack gap="xs">
            <Fold summary={toolsSummary(found)} title={t`Workloads and tools`}>
              <ToolTable node={found} />
            </Fold>
            <Fold title={t`Targets and mounts`}>
              <Stack>
                {parts.targets(found)}
                <MountTable node={found} />
              </Stack>
            </Fold>
            {parts.scratch(found)}
            {parts.history}
            <Fold
              summary={t`${Object.keys(found.facts).length} facts, latest report of the agent`}
              title={t`Facts`}
            >
              <FactsTable facts={found.facts} label={t`Facts of ${found.name}`} maxHeight={440} />
            </Fold>
          </Stack>
        </Page>
      )}
    </LoadedPage>
  );
}

/** Agents report the end of a stuck load from this wire version on. Agents inside batch jobs have ended by then. */
const REPORTS_STUCK = 3;

function Stuck({ node }: { node: Node }) {
  const launcher = useClusters().find(({ id }) => id === node.cluster_id)?.launcher ?? "direct";
  const reports = (node.wire_version ?? 0) >= REPORTS_STUCK && launcher === "direct";
  return (
    <StuckNote loads={node.stuck}>
      {reports
        ? t`The node gets no runs until its agent reports that the process has ended. Restore the storage or reboot the node.`
        : t`The node gets no runs until an operator frees it or it is rebooted. Its agent does not report when the process has ended. Restore the storage, then free the node.`}
    </StuckNote>
  );
}

function Actions({ node }: { node: Node }) {
  const actions = useNodeActions(node);
  if (node.state === "retired") return null;
  return (
    <>
      <NodeDecisionButtons node={node} />
      <ManageMenu actions={actions} />
    </>
  );
}

function NodeFacts({ node }: { node: Node }) {
  return (
    <DefinitionRow>
      {node.problem && (
        <Fact label={t`Skipped`}>
          <Text c="var(--mantine-color-error)" inherit>
            {node.problem}
          </Text>
        </Fact>
      )}
      <Fact label={t`Held by`}>
        <NodeActivity
          idle={node.stuck.length > 0 ? t`a process that cannot be killed` : t`none (free)`}
          node={node}
        />
      </Fact>
      <Fact label={t`Capacity`}>
        {node.slots === 1 ? t`one run at a time` : t`${node.slots} runs at a time`}
      </Fact>
      <Fact label={t`Role`}>{node.role}</Fact>
      <Fact label={t`System`}>{describeNode(node.facts) || t`unknown`}</Fact>
      <Fact label={t`Agent`}>
        <AgentVersion isLong standing={node.agent_standing} version={node.agent_version} />
        {node.wire_version !== null && <Hint>{t`wire version ${node.wire_version}`}</Hint>}
      </Fact>
      <Fact label={t`Clock`}>
        <ClockOffset clock={node.clock} />
      </Fact>
      <Fact label={t`Credentials`}>
        <CredentialsAge node={node} />
      </Fact>
      <Fact label={t`Approved directories`}>
        {node.approved_directories.join(", ") || t`none yet: set approved_directories in agent.toml`}
      </Fact>
    </DefinitionRow>
  );
}

function toolsSummary({ workloads }: Node): string {
  const absent = workloads.filter(({ available }) => !available).length;
  const all = t`${workloads.length} workloads`;
  return absent > 0 ? t`${all}, ${absent} unavailable` : all;
}

function ToolTable({ node }: { node: Node }) {
  if (node.workloads.length === 0)
    return <Text c="dimmed">{t`The agent has not reported any workloads yet.`}</Text>;
  return (
    <ScrollTable head={[t`Workload`, t`Available`, t`Tool`]} label={t`Workloads of ${node.name}`}>
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
            {available ? (tool_version ?? t`none needed`) : (unavailable_because ?? t`unavailable`)}
          </td>
        </Row>
      ))}
    </ScrollTable>
  );
}

function MountTable({ node }: { node: Node }) {
  if (node.mounts.length === 0)
    return <Text c="dimmed">{t`The agent has not reported any mounts yet.`}</Text>;
  return (
    <ScrollTable
      head={[t`Path`, t`File system`, t`Source`, t`Size`, t`Free`, t`Writable by runs`]}
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
