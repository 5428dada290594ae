/** Facts of a target, folded: mounts, storage layers, backing targets, confirmation runs. */

import { t } from "@lingui/core/macro";
import { Button, Checkbox, Group, Progress, Stack, Switch, Text, Title } from "@mantine/core";
import { useMutation, useQuery } from "@tanstack/react-query";
import { useState } from "react";
import type { Target, TargetFacts, TargetPlace } from "@/api/types";
import { Fold } from "@/components/Fold";
import { NodeLink, TargetLink } from "@/components/links";
import { Hint, Problem } from "@/components/looks";
import { ErrorNotice } from "@/components/Page";
import { FactsTable, Row, ScrollTable } from "@/components/ScrollTable";
import { useMay } from "@/components/session";
import { Quantity } from "@/components/values";
import { nodesOf, together } from "./alike";
import { setBacking, setSuspects, targetsQuery } from "./queries";
import { StackDiagram } from "./StackDiagram";
import { layersOf } from "./stack";

export function Known({ target, facts }: { target: Target; facts: TargetFacts }) {
  const mayChange = useMay("operator", target.cluster_id) && !target.retired_at;
  return (
    <>
      <Fold summary={mountSummary(facts.places)} title={t`Mounts`}>
        <Hint mb="xs">{t`Capacity as last reported by each node. Earlier values are not stored.`}</Hint>
        <PlaceTable places={facts.places} target={target} />
      </Fold>
      <Fold
        summary={t`from the mount down to the disks, as last reported by each node`}
        title={t`Storage layers`}
      >
        <Stack>
          {together([...facts.places, ...facts.backing], stackOf).map((places) => (
            <Made key={`${places[0]?.target.id} ${places[0]?.node_id}`} places={places} />
          ))}
        </Stack>
      </Fold>
      <Fold
        summary={target.backed_by.map(({ name }) => name).join(", ") || t`none`}
        title={t`Backing targets`}
      >
        <Hint mb="xs">
          {t`Targets of the storage nodes that serve it. Their facts are recorded with its runs. A change of the server's RAID appears as an event in the trend.`}
        </Hint>
        <BackedBy mayChange={mayChange} suggested={facts.suggested_backing} target={target} />
      </Fold>
      <Fold summary={target.confirms_suspects ? t`on` : t`off`} title={t`Confirmation runs`}>
        <SuspectsSwitch target={target} />
      </Fold>
    </>
  );
}

/** For example `xfs on /dev/md0`. */
function mountSummary(places: readonly TargetPlace[]): string {
  const kinds = places.map(({ mount }) => (mount ? t`${mount.fstype} on ${mount.source}` : t`not mounted`));
  return [...new Set(kinds)].join(", ");
}

function PlaceTable({ places, target }: { places: readonly TargetPlace[]; target: Target }) {
  const problems = new Map(target.mounts.map(({ node_id, problem }) => [node_id, problem]));
  return (
    <ScrollTable
      head={[t`Node`, t`Directory`, t`File system`, t`Size`, t`Used`, t`Inodes used`]}
      label={t`Mounts`}
    >
      {places.map(({ mount, ...place }) => (
        <Row key={place.node_id}>
          <td className="iotide-strong">
            <NodeLink id={place.node_id} name={place.node_name} />
          </td>
          <td className="iotide-wrap">
            {place.path}
            <Problem>{problems.get(place.node_id)}</Problem>
          </td>
          {mount ? t`${mount.fstype} on ${mount.source}` : t`not mounted`}
          <Quantity unit="bytes" value={mount?.total_bytes ?? null} />
          <Used free={mount?.free_bytes} label={t`Space used`} total={mount?.total_bytes} />
          <Used free={mount?.free_inodes} label={t`Inodes used`} total={mount?.total_inodes} />
        </Row>
      ))}
    </ScrollTable>
  );
}

export function AllFacts({ places }: { places: readonly TargetPlace[] }) {
  return together(places, ({ mount }) => mount?.facts).map((alike) => {
    const title = t`Facts on ${nodesOf(alike)}`;
    return (
      <Fold key={title} title={title}>
        <FactsTable facts={alike[0]?.mount?.facts ?? {}} label={title} maxHeight={320} />
      </Fold>
    );
  });
}

interface UsedProps {
  readonly label: string;
  readonly free: number | null | undefined;
  readonly total: number | null | undefined;
}

function Used({ label, free, total }: UsedProps) {
  if (!total || free === null || free === undefined) return <span>{t`unknown`}</span>;
  const percent = Math.round((100 * (total - free)) / total);
  return (
    <>
      <span className="iotide-number">{percent} %</span>
      <Progress aria-label={label} miw={80} size="sm" value={percent} />
    </>
  );
}

/** Grouping key of places. */
function stackOf({ target, mount }: TargetPlace) {
  return [target.id, mount && layersOf(mount)];
}

function Made({ places }: { places: readonly TargetPlace[] }) {
  const [first] = places;
  if (!first?.mount) return null;
  const name = t`${first.target.name} on ${nodesOf(places)}`;
  return (
    <Stack gap="xs">
      <Title order={3} size="h5">
        {name}
      </Title>
      <StackDiagram layers={layersOf(first.mount)} name={name} />
    </Stack>
  );
}

/** Switch for confirmation runs after suspected changes. */
function SuspectsSwitch({ target }: { target: Target }) {
  const change = useMutation(setSuspects);
  const mayChange = useMay("operator", target.cluster_id) && !target.retired_at;
  return (
    <Stack gap="xs">
      <Switch
        checked={target.confirms_suspects}
        description={t`Starts three runs of the same configuration, at most once a day for each configuration. The campaign is named confirm-… and states the reason.`}
        disabled={!mayChange || change.isPending}
        label={t`Measure again when a change is suspected`}
        onChange={({ currentTarget }) =>
          change.mutate({ targetId: target.id, confirms: currentTarget.checked })
        }
      />
      {change.error && <ErrorNotice error={change.error} />}
    </Stack>
  );
}

interface BackedByProps {
  readonly target: Target;
  readonly suggested: readonly { readonly id: number; readonly name: string }[];
  readonly mayChange: boolean;
}

function BackedBy({ target, suggested, mayChange }: BackedByProps) {
  if (mayChange) return <Choice suggested={suggested} target={target} />;
  if (target.backed_by.length === 0) return <Text c="dimmed">{t`No backing target is set.`}</Text>;
  return (
    <Group>
      {target.backed_by.map(({ id, name }) => (
        <TargetLink id={id} key={id} name={name} />
      ))}
    </Group>
  );
}

function Choice({ target, suggested }: Omit<BackedByProps, "mayChange">) {
  const { data: targets = [] } = useQuery(targetsQuery(target.cluster_id));
  const [ticked, setTicked] = useState<ReadonlySet<number>>(new Set(target.backed_by.map(({ id }) => id)));
  const save = useMutation(setBacking);
  const others = targets.filter(({ id }) => id !== target.id);
  if (others.length === 0) return <Text c="dimmed">{t`The cluster has no other target.`}</Text>;
  function tick(id: number, isTicked: boolean): void {
    const next = new Set(ticked);
    if (isTicked) next.add(id);
    else next.delete(id);
    setTicked(next);
  }
  return (
    <Stack gap="xs">
      {others.map(({ id, name, mounts }) => (
        <Checkbox
          checked={ticked.has(id)}
          description={mounts.map((mount) => t`${mount.path} on ${mount.node_name}`).join(", ")}
          key={id}
          label={
            suggested.some((one) => one.id === id)
              ? t`${name} (suggested: contains the exported directory)`
              : name
          }
          onChange={(event) => tick(id, event.currentTarget.checked)}
        />
      ))}
      {save.error && <ErrorNotice error={save.error} />}
      <Group>
        <Button
          loading={save.isPending}
          onClick={() => save.mutate({ targetId: target.id, targets: [...ticked] })}
          size="xs"
        >{t`Save`}</Button>
      </Group>
    </Stack>
  );
}
