/** Ticking discovered mounts makes targets of them. */

import { Button, Checkbox, Group, Stack, Text, TextInput } from "@mantine/core";
import { useMutation } from "@tanstack/react-query";
import { useMemo, useState } from "react";
import type { Node, Target } from "@/api/types";
import { ErrorNotice } from "@/components/ErrorNotice";
import { Quantity } from "@/components/Quantity";
import { ScrollTable } from "@/components/ScrollTable";
import { type Candidate, findCandidates } from "./discovery";
import { createTarget } from "./queries";

interface DiscoverTargetsProps {
  readonly clusterId: number;
  readonly nodes: readonly Node[];
  readonly targets: readonly Target[];
  readonly onStart: () => void;
  readonly onDone: () => void;
}

export default function DiscoverTargets({
  clusterId,
  nodes,
  targets,
  onStart,
  onDone,
}: DiscoverTargetsProps) {
  const candidates = useMemo(() => findCandidates(nodes, targets), [nodes, targets]);
  const [names, setNames] = useState<ReadonlyMap<string, string>>(new Map());
  const create = useMutation(createTarget);

  async function createTicked(): Promise<void> {
    onStart();
    const left = new Map(names);
    for (const candidate of candidates) {
      const name = left.get(candidate.key);
      if (name === undefined) continue;
      await create.mutateAsync(toTarget(clusterId, candidate, name));
      left.delete(candidate.key);
      setNames(new Map(left));
    }
    onDone();
  }

  if (candidates.length === 0 && !create.isPending) return <NoCandidates hasNodes={nodes.length > 0} />;
  return (
    <Stack gap="xs">
      <CandidateTable candidates={candidates} names={names} onNames={setNames} />
      {create.error && <ErrorNotice error={create.error} />}
      <Group>
        <Button
          disabled={names.size === 0}
          loading={create.isPending}
          // A refusal stays visible through create.error; what was made before it is no longer offered.
          onClick={() => void createTicked().catch(() => undefined)}
        >
          {names.size > 1 ? `Make ${names.size} targets` : "Make target"}
        </Button>
      </Group>
    </Stack>
  );
}

function toTarget(clusterId: number, candidate: Candidate, name: string) {
  return {
    cluster_id: clusterId,
    name,
    path: candidate.path,
    scope: candidate.scope,
    nodes: candidate.nodes.map(({ id }) => id),
    reserve_bytes: null,
  };
}

function NoCandidates({ hasNodes }: { hasNodes: boolean }) {
  return (
    <Text c="dimmed" size="sm">
      {hasNodes
        ? "Every approved directory is a target already. Add directories to approved_directories in a node's agent.toml and restart its agent to see more here."
        : "Mounts appear here as soon as a node has joined."}
    </Text>
  );
}

interface CandidateTableProps {
  readonly candidates: readonly Candidate[];
  /** Names of the ticked ones, by key. */
  readonly names: ReadonlyMap<string, string>;
  readonly onNames: (names: ReadonlyMap<string, string>) => void;
}

function CandidateTable({ candidates, names, onNames }: CandidateTableProps) {
  function setName(key: string, name: string | undefined): void {
    const next = new Map(names);
    if (name === undefined) next.delete(key);
    else next.set(key, name);
    onNames(next);
  }
  return (
    <ScrollTable
      head={["Directory", "File system", "Nodes", "Free", "Target name"]}
      label="Discovered mounts"
    >
      {candidates.map((candidate) => (
        <tr key={candidate.key}>
          <td>
            <Checkbox
              checked={names.has(candidate.key)}
              label={candidate.path}
              onChange={(event) =>
                setName(candidate.key, event.currentTarget.checked ? candidate.suggestedName : undefined)
              }
            />
          </td>
          <td>
            {candidate.fstype} on {candidate.source}
            <Text c="dimmed" size="xs">
              {candidate.scope === "shared"
                ? "shared: one file system behind its mounts"
                : "private to each node"}
            </Text>
          </td>
          <td className="iotide-wrap">{candidate.nodes.map(({ name }) => name).join(", ")}</td>
          <td>
            <Quantity unit="bytes" value={candidate.smallestFreeBytes} />
          </td>
          <td>
            <TextInput
              aria-label={`Name of the target for ${candidate.path}`}
              disabled={!names.has(candidate.key)}
              onChange={(event) => setName(candidate.key, event.currentTarget.value)}
              size="xs"
              value={names.get(candidate.key) ?? candidate.suggestedName}
            />
          </td>
        </tr>
      ))}
    </ScrollTable>
  );
}
