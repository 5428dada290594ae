import { t } from "@lingui/core/macro";
import { Trans } from "@lingui/react/macro";
import { Badge, DataList, Group, Stack, Text } from "@mantine/core";
import { useMutation, useQuery } from "@tanstack/react-query";
import { useNavigate } from "@tanstack/react-router";
import type { ReactNode } from "react";
import type { Node } from "@/api/types";
import { StateBadge } from "@/components/badges";
import { ConfirmButton } from "@/components/buttons";
import { Definition } from "@/components/Definition";
import { DrainButton, DrainNote } from "@/components/drain/DrainButton";
import { Hint } from "@/components/looks";
import { useClusters } from "@/components/Origin";
import { LoadedPage, Page, Section } from "@/components/Page";
import { PlaceTrail } from "@/components/Place";
import { FactsTable, Row, ScrollTable } from "@/components/ScrollTable";
import { StuckNote } from "@/components/StuckNote";
import { useMay } from "@/components/session";
import { Quantity, When } from "@/components/values";
import { AgentVersion } from "./AgentVersion";
import { describeNode } from "./facts";
import { NodeActivity } from "./NodeActivity";
import { NodeDecisionButtons } from "./NodeDecisionButtons";
import { ClockOffset, CredentialsAge, IdentityButtons } from "./NodeIdentity";
import { nodeQuery, retireNode } from "./queries";

interface NodePageProps {
  readonly nodeId: number;
  /** Rendered by other features. */
  readonly targets: (node: Node) => ReactNode;
  readonly runs: ReactNode;
  readonly history: ReactNode;
}

export function NodePage({ nodeId, targets, runs, history }: NodePageProps) {
  const node = useQuery(nodeQuery(nodeId));
  return (
    <LoadedPage query={node} title={t`Node ${nodeId}`}>
      {(found) => (
        <Page
          actions={<Actions node={found} />}
          title={t`Node ${found.name}`}
          trail={<PlaceTrail clusterId={found.cluster_id} />}
        >
          <DrainNote drain={found.drain} />
          <Stuck node={found} />
          <Section title={t`Status`}>
            <Now node={found} />
          </Section>
          {runs}
          <Section
            description={t`Workloads that the agent can run, and reasons for those that it cannot run.`}
            title={t`Workloads and tools`}
          >
            <ToolTable node={found} />
          </Section>
          <Section title={t`Targets and mounts`}>
            <Stack>
              {targets(found)}
              <MountTable node={found} />
            </Stack>
          </Section>
          {history}
          <Section description={t`Latest report of the agent.`} title={t`Facts`}>
            <FactsTable facts={found.facts} label={t`Facts of ${found.name}`} maxHeight={440} />
          </Section>
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
  if (node.state === "retired") return null;
  return (
    <>
      <NodeDecisionButtons node={node} />
      <IdentityButtons node={node} />
      <DrainButton
        clusterId={node.cluster_id}
        drain={node.drain}
        name={t`node ${node.name}`}
        subject={{ kind: "node", id: node.id }}
      />
      <RetireButton node={node} />
    </>
  );
}

function Now({ node }: { node: Node }) {
  return (
    <DataList size="sm">
      <Definition label={t`State`}>
        <Group gap="xs">
          <StateBadge state={node.state} />
          <span>
            <Trans>
              last seen <When at={node.last_seen_at} />
            </Trans>
          </span>
        </Group>
      </Definition>
      {node.problem && (
        <Definition label={t`Skipped`}>
          <Text c="var(--mantine-color-error)" inherit>
            {node.problem}
          </Text>
        </Definition>
      )}
      <Definition label={t`Held by`}>
        <NodeActivity
          idle={node.stuck.length > 0 ? t`a process that cannot be killed` : t`none (free)`}
          node={node}
        />
      </Definition>
      <Definition label={t`Capacity`}>
        {node.slots === 1 ? t`one run at a time` : t`${node.slots} runs at a time`}
      </Definition>
      <Definition label={t`Role`}>{node.role}</Definition>
      <Definition label={t`System`}>{describeNode(node.facts) || t`unknown`}</Definition>
      <Definition label={t`Agent`}>
        <AgentVersion isLong standing={node.agent_standing} version={node.agent_version} />
        {node.wire_version !== null && <Hint>{t`wire version ${node.wire_version}`}</Hint>}
      </Definition>
      <Definition label={t`Clock`}>
        <ClockOffset clock={node.clock} />
      </Definition>
      <Definition label={t`Credentials`}>
        <CredentialsAge node={node} />
      </Definition>
      <Definition label={t`Approved directories`}>
        <span style={{ overflowWrap: "anywhere" }}>
          {node.approved_directories.join(", ") || t`none yet: set approved_directories in agent.toml`}
        </span>
      </Definition>
    </DataList>
  );
}

function RetireButton({ node }: { node: Node }) {
  const retire = useMutation(retireNode);
  const navigate = useNavigate();
  const mayRetire = useMay("admin", node.cluster_id);
  if (!mayRetire) return null;
  const params = { clusterId: node.cluster_id };
  return (
    <ConfirmButton
      loading={retire.isPending}
      onConfirm={() =>
        retire.mutate(node.id, { onSuccess: () => void navigate({ to: "/clusters/$clusterId", params }) })
      }
      title={t`Retire ${node.name}?`}
      body={t`The agent loses access and the node gets no further runs. Results are kept.`}
      yes={t`Retire node`}
      size="xs"
    >{t`Retire`}</ConfirmButton>
  );
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
