import { t } from "@lingui/core/macro";
import { Group, Stack, Text } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { lazy, Suspense, useState } from "react";
import type { Target } from "@/api/types";
import { AddButton, ConfirmMutation } from "@/components/buttons";
import { DrainButton, DrainNote } from "@/components/drain/DrainButton";
import { TargetLink } from "@/components/links";
import { Detail, Problem } from "@/components/looks";
import { Loaded, Section } from "@/components/Page";
import { Row, ScrollTable } from "@/components/ScrollTable";
import { useMay } from "@/components/session";
import { Quantity } from "@/components/values";
import { retireTarget, targetsQuery } from "./queries";

const DiscoverTargets = lazy(() => import("./DiscoverTargets"));

export function TargetsPanel({ clusterId, hasNodes }: { clusterId: number; hasNodes: boolean }) {
  const targets = useQuery(targetsQuery(clusterId));
  const mayCreate = useMay("admin", clusterId);
  const [isAdding, setIsAdding] = useState(false);
  const isEmpty = targets.data?.length === 0;
  return (
    <Section
      actions={
        mayCreate &&
        !isEmpty && (
          <AddButton isOpen={isAdding} onToggle={() => setIsAdding(!isAdding)}>{t`Add targets`}</AddButton>
        )
      }
      title={t`Targets`}
    >
      <Stack gap="sm">
        <Loaded
          empty={<Text>{t`No targets yet. A target is a file system or directory under test.`}</Text>}
          query={targets}
        >
          {(rows) => <TargetTable targets={rows} />}
        </Loaded>
        {mayCreate && (isAdding || isEmpty) && (
          <Suspense>
            <DiscoverTargets
              clusterId={clusterId}
              hasNodes={hasNodes}
              onDone={() => setIsAdding(false)}
              // Keep the form open: the first created target ends the empty state.
              onStart={() => setIsAdding(true)}
            />
          </Suspense>
        )}
      </Stack>
    </Section>
  );
}

function TargetTable({ targets }: { targets: readonly Target[] }) {
  return (
    <ScrollTable head={[t`Target`, t`Path`, t`File system`, t`Nodes`, t`Free`, ""]} label={t`Targets`}>
      {targets.map((target) => (
        <TargetRow key={target.id} target={target} />
      ))}
    </ScrollTable>
  );
}

function TargetRow({ target }: { target: Target }) {
  const kinds = [...new Set(target.mounts.map(({ fstype }) => fstype))];
  const free = target.mounts.map(({ free_bytes }) => free_bytes).filter((bytes) => bytes !== null);
  const problems = target.mounts.filter(({ problem }) => problem);
  return (
    <Row>
      <td className="iotide-strong">
        <TargetLink id={target.id} name={target.name} />
        <DrainNote drain={target.drain} />
      </td>
      {target.path}
      <td>
        {kinds.join(", ")}
        <Detail>{target.scope === "shared" ? t`shared` : t`private to each node`}</Detail>
      </td>
      <td className="iotide-wrap">
        {target.mounts.map(({ node_name }) => node_name).join(", ")}
        {problems.map(({ node_id, node_name, problem }) => (
          <Problem key={node_id}>
            {node_name}: {problem}
          </Problem>
        ))}
      </td>
      <Quantity unit="bytes" value={free.length > 0 ? Math.min(...free) : null} />
      <Group gap="xs" wrap="nowrap">
        <DrainButton
          clusterId={target.cluster_id}
          drain={target.drain}
          name={t`target ${target.name}`}
          size="compact-xs"
          subject={{ kind: "target", id: target.id }}
        />
        <RetireButton target={target} />
      </Group>
    </Row>
  );
}

function RetireButton({ target }: { target: Target }) {
  if (!useMay("admin", target.cluster_id)) return null;
  return (
    <ConfirmMutation
      aria-label={t`Retire ${target.name}`}
      title={t`Retire ${target.name}?`}
      body={t`The target gets no further runs. Results are kept.`}
      yes={t`Retire target`}
      size="compact-xs"
      mutation={retireTarget}
      variables={target.id}
    >{t`Retire`}</ConfirmMutation>
  );
}
