/** Discovered mounts: selecting them creates targets or adds nodes to existing ones. */

import { t } from "@lingui/core/macro";
import { Trans } from "@lingui/react/macro";
import { Button, Checkbox, Group, Stack, Text, TextInput } from "@mantine/core";
import { useMutation, useQuery } from "@tanstack/react-query";
import { useState } from "react";
import type { Candidate, TargetInput } from "@/api/types";
import { Detail, Hint } from "@/components/looks";
import { ErrorNotice, Loaded } from "@/components/Page";
import { Row, ScrollTable } from "@/components/ScrollTable";
import { Quantity } from "@/components/values";
import { candidatesQuery, createTarget, joinTarget } from "./queries";

interface DiscoverTargetsProps {
  readonly clusterId: number;
  readonly hasNodes: boolean;
  readonly onStart: () => void;
  readonly onDone: () => void;
}

export default function DiscoverTargets({ clusterId, hasNodes, onStart, onDone }: DiscoverTargetsProps) {
  const candidates = useQuery(candidatesQuery(clusterId));
  const [names, setNames] = useState<ReadonlyMap<string, string>>(new Map());
  const create = useMutation(createTarget);
  const join = useMutation(joinTarget);
  const isPending = create.isPending || join.isPending;

  async function makeTicked(): Promise<void> {
    onStart();
    const left = new Map(names);
    for (const candidate of candidates.data ?? []) {
      const name = left.get(keyOf(candidate));
      if (name === undefined) continue;
      if (candidate.joins) await join.mutateAsync(toJoining(candidate, candidate.joins.id));
      else await create.mutateAsync(toTarget(clusterId, candidate, name));
      left.delete(keyOf(candidate));
      setNames(new Map(left));
    }
    onDone();
  }

  return (
    <Loaded
      empty={<NoCandidates hasNodes={hasNodes} />}
      isEmpty={(rows) => rows.length === 0 && !isPending}
      query={candidates}
    >
      {(rows) => (
        <Stack gap="xs">
          <Hint>
            {t`Directories that the agents may write to and that are not targets yet. Select the ones to measure.`}
          </Hint>
          <CandidateTable candidates={rows} names={names} onNames={setNames} />
          {create.error && <ErrorNotice error={create.error} />}
          {join.error && <ErrorNotice error={join.error} />}
          <Group>
            <Button
              disabled={names.size === 0}
              loading={isPending}
              // An error stays visible, and targets created before it are no longer offered.
              onClick={() => void makeTicked().catch(() => undefined)}
            >
              {names.size > 1 ? t`Create ${names.size} targets` : t`Create target`}
            </Button>
          </Group>
        </Stack>
      )}
    </Loaded>
  );
}

function keyOf({ places, fstype }: Candidate): string {
  return `${places[0]?.node_id} ${places[0]?.path} ${fstype}`;
}

function pathOf({ places }: Candidate): string {
  return places[0]?.path ?? "";
}

function toTarget(clusterId: number, candidate: Candidate, name: string): TargetInput {
  const path = pathOf(candidate);
  return {
    cluster_id: clusterId,
    name,
    path,
    scope: candidate.scope,
    nodes: candidate.places.filter((place) => place.path === path).map(({ node_id }) => node_id),
    elsewhere: candidate.places
      .filter((place) => place.path !== path)
      .map((place) => ({ node_id: place.node_id, path: place.path })),
    reserve_bytes: null,
  };
}

function toJoining({ places }: Candidate, targetId: number) {
  return { targetId, elsewhere: places.map(({ node_id, path }) => ({ node_id, path })) };
}

function NoCandidates({ hasNodes }: { hasNodes: boolean }) {
  return (
    <Hint>
      {hasNodes
        ? t`All approved directories are targets already. To see more, add directories to approved_directories in a node's agent.toml and restart its agent.`
        : t`Mounts appear here when a node has joined.`}
    </Hint>
  );
}

interface CandidateTableProps {
  readonly candidates: readonly Candidate[];
  /** Target names of the selected mounts, by key. */
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
      head={[t`Directory`, t`Target name`, t`File system`, t`Nodes`, t`Size`, t`Free`]}
      label={t`Discovered mounts`}
    >
      {candidates.map((candidate) => (
        <Row key={keyOf(candidate)}>
          <td className="iotide-name">
            <Checkbox
              checked={names.has(keyOf(candidate))}
              label={pathOf(candidate)}
              onChange={(event) =>
                setName(keyOf(candidate), event.currentTarget.checked ? candidate.suggested_name : undefined)
              }
            />
          </td>
          {candidate.joins ? (
            <Text size="sm">{t`joins ${candidate.joins.name}`}</Text>
          ) : (
            <TextInput
              aria-label={t`Name of the target for ${pathOf(candidate)}`}
              miw={170}
              disabled={!names.has(keyOf(candidate))}
              onChange={(event) => setName(keyOf(candidate), event.currentTarget.value)}
              size="xs"
              value={names.get(keyOf(candidate)) ?? candidate.suggested_name}
            />
          )}
          <td className="iotide-wrap">
            <Trans>
              {candidate.fstype} on {[...new Set(candidate.places.map(({ source }) => source))].join(", ")}
              <Detail>
                {candidate.scope === "shared"
                  ? t`shared: all mounts show the same file system`
                  : t`private to each node`}
                {candidate.identity && `, ${candidate.identity}`}
              </Detail>
            </Trans>
          </td>
          <td className="iotide-wrap">
            {candidate.places.map((place) => placeName(place, candidate)).join(", ")}
          </td>
          <Quantity unit="bytes" value={least(candidate.places.map(({ total_bytes }) => total_bytes))} />
          <Quantity unit="bytes" value={least(candidate.places.map(({ free_bytes }) => free_bytes))} />
        </Row>
      ))}
    </ScrollTable>
  );
}

/** Shows the path only if it differs from the row's. */
function placeName(place: Candidate["places"][number], candidate: Candidate): string {
  return place.path === pathOf(candidate) ? place.node_name : t`${place.node_name} at ${place.path}`;
}

function least(values: readonly (number | null)[]): number | null {
  const known = values.filter((value) => value !== null);
  return known.length > 0 ? Math.min(...known) : null;
}
