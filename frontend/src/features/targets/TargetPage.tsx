/** One target: where it is mounted, what it is made of, what it stands on, and every fact. */

import { Progress, Stack, Text, Title } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import type { ReactNode } from "react";
import type { Target, TargetFacts, TargetPlace } from "@/api/types";
import { DrainButton } from "@/components/drain/DrainButton";
import { DrainNote } from "@/components/drain/DrainNote";
import { FactsTable } from "@/components/FactsTable";
import { Loaded } from "@/components/Loaded";
import { LoadedPage } from "@/components/LoadedPage";
import { TextLink } from "@/components/links";
import { MadeUpBadge } from "@/components/MadeUp";
import { Page, Section } from "@/components/Page";
import { Quantity } from "@/components/Quantity";
import { ScrollTable } from "@/components/ScrollTable";
import { useMay } from "@/components/session";
import { When } from "@/components/When";
import { BackedBy } from "./BackedBy";
import { targetFactsQuery, targetQuery } from "./queries";
import { layersOf } from "./stack";

interface TargetPageProps {
  readonly targetId: number;
  readonly advice: ReactNode;
}

export function TargetPage({ targetId, advice }: TargetPageProps) {
  const target = useQuery(targetQuery(targetId));
  const facts = useQuery(targetFactsQuery(targetId));
  return (
    <LoadedPage query={target} title={`Target ${targetId}`}>
      {(found) => (
        <Page
          actions={<Actions target={found} />}
          title={`Target ${found.name}`}
          trail={<Trail target={found} />}
        >
          <DrainNote drain={found.drain} />
          {advice}
          <Loaded query={facts}>{(known) => <Known facts={known} target={found} />}</Loaded>
        </Page>
      )}
    </LoadedPage>
  );
}

function Actions({ target }: { target: Target }) {
  if (target.retired_at) return null;
  return (
    <DrainButton
      clusterId={target.cluster_id}
      drain={target.drain}
      name={`target ${target.name}`}
      size="sm"
      subject={{ kind: "target", id: target.id }}
    />
  );
}

function Trail({ target: { cluster_id: clusterId, scope, retired_at: retiredAt } }: { target: Target }) {
  return (
    <>
      <TextLink to="/" underline="always">
        Overview
      </TextLink>{" "}
      · {scope === "shared" ? "one file system shared by its nodes" : "private to each node"}{" "}
      <MadeUpBadge clusterId={clusterId} />
      {retiredAt && (
        <>
          {" "}
          · retired <When at={retiredAt} />
        </>
      )}
    </>
  );
}

function Known({ target, facts }: { target: Target; facts: TargetFacts }) {
  const mayChange = useMay("operator", target.cluster_id) && !target.retired_at;
  return (
    <>
      <Section title="Where it is">
        <PlaceTable places={facts.places} target={target} />
      </Section>
      <Section
        description="From the mount down to the disks, by the last word of each node."
        title="What it is made of"
      >
        <Stack>
          {[...facts.places, ...facts.backing].map((place) => (
            <Made key={`${place.target.id} ${place.node_id}`} place={place} />
          ))}
        </Stack>
      </Section>
      <Section
        description="Targets of storage nodes that serve it. Their facts go with its runs: a change of the server's RAID is an event on its trend."
        title="What it stands on"
      >
        <BackedBy mayChange={mayChange} suggested={facts.suggested_backing} target={target} />
      </Section>
      {facts.places.map(({ mount, node_id, node_name }) => (
        <Section key={node_id} title={`Facts on ${node_name}`}>
          <FactsTable facts={mount?.facts ?? {}} label={`Facts on ${node_name}`} maxHeight={320} />
        </Section>
      ))}
    </>
  );
}

function PlaceTable({ places, target }: { places: readonly TargetPlace[]; target: Target }) {
  const problems = new Map(target.mounts.map(({ node_id, problem }) => [node_id, problem]));
  return (
    <ScrollTable head={["Node", "Directory", "File system", "Size", "Used", "Inodes used"]} label="Mounts">
      {places.map(({ mount, ...place }) => (
        <tr key={place.node_id}>
          <td className="iotide-strong">{place.node_name}</td>
          <td className="iotide-wrap">
            {place.path}
            <Text c="var(--mantine-color-error)" size="xs">
              {problems.get(place.node_id)}
            </Text>
          </td>
          <td>{mount ? `${mount.fstype} on ${mount.source}` : "nothing"}</td>
          <td>
            <Quantity unit="bytes" value={mount?.total_bytes ?? null} />
          </td>
          <td>
            <Used free={mount?.free_bytes} label="Space used" total={mount?.total_bytes} />
          </td>
          <td>
            <Used free={mount?.free_inodes} label="Inodes used" total={mount?.total_inodes} />
          </td>
        </tr>
      ))}
    </ScrollTable>
  );
}

interface UsedProps {
  readonly label: string;
  readonly free: number | null | undefined;
  readonly total: number | null | undefined;
}

function Used({ label, free, total }: UsedProps) {
  if (!total || free === null || free === undefined) return <span>unknown</span>;
  const percent = Math.round((100 * (total - free)) / total);
  return (
    <>
      <span className="iotide-number">{percent} %</span>
      <Progress aria-label={label} miw={80} size="sm" value={percent} />
    </>
  );
}

function Made({ place }: { place: TargetPlace }) {
  const { mount } = place;
  if (!mount) return null;
  return (
    <Stack gap="xs">
      <Title order={3} size="h5">
        {place.target.name} on {place.node_name}
      </Title>
      <ol aria-label={`Layers of ${place.target.name} on ${place.node_name}`} className="iotide-layers">
        {layersOf(mount).map(({ kind, facts }, depth) => (
          // biome-ignore lint/suspicious/noArrayIndexKey: a layer is what its depth says
          <li key={depth} style={{ marginInlineStart: `${depth}rem` }}>
            <Text fw={600} size="sm" span>
              {kind}
            </Text>{" "}
            <Text c="dimmed" size="xs" span style={{ overflowWrap: "anywhere" }}>
              {facts.join(", ")}
            </Text>
          </li>
        ))}
      </ol>
    </Stack>
  );
}
