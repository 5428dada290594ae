/** Where the campaign runs: nodes and targets. */

import { SimpleGrid, Switch } from "@mantine/core";
import type { Node, Target } from "@/api/types";
import { Section } from "@/components/Page";
import { formatValue } from "@/lib/units";
import type { Draft } from "./draft";
import { PickList } from "./PickList";

interface PlacesSectionProps {
  readonly draft: Draft;
  readonly nodes: readonly Node[];
  readonly targets: readonly Target[];
  readonly onChange: (draft: Draft) => void;
}

export function PlacesSection({ draft, nodes, targets, onChange }: PlacesSectionProps) {
  return (
    <Section
      description={
        draft.targetsAtOnce
          ? "Each node is measured on its own, on all targets together."
          : "Each node is measured on its own, on each target."
      }
      title="Where"
    >
      <SimpleGrid cols={{ base: 1, sm: 2 }}>
        <PickList
          empty="No node has joined this cluster yet: the overview shows how."
          items={nodes.map((node) => ({ name: node.name, detail: describeNode(node) }))}
          label="Nodes"
          onPick={(picked) => onChange({ ...draft, nodes: picked })}
          picked={draft.nodes}
        />
        <PickList
          empty="This cluster has no target yet: tick mounts on the overview."
          items={targets.map((target) => ({ name: target.name, detail: describeTarget(target) }))}
          label="Targets"
          onPick={(picked) => onChange({ ...draft, targets: picked })}
          picked={draft.targets}
        />
      </SimpleGrid>
      {draft.targets.length > 1 && (
        <Switch
          checked={draft.targetsAtOnce}
          description="Each run loads all of them together, to see how they share what lies between."
          label="All targets at once"
          mt="md"
          onChange={({ currentTarget }) => onChange({ ...draft, targetsAtOnce: currentTarget.checked })}
        />
      )}
    </Section>
  );
}

function describeNode(node: Node): string {
  const missing = node.workloads.filter(({ available }) => !available).map(({ name }) => name);
  return [node.state, missing.length > 0 ? `cannot run ${missing.join(", ")}` : ""]
    .filter(Boolean)
    .join(", ");
}

function describeTarget(target: Target): string {
  const [mount] = target.mounts;
  const free = mount?.free_bytes ?? null;
  return [target.path, mount?.fstype, free === null ? "" : `${formatValue(free, "bytes")} free`]
    .filter(Boolean)
    .join(", ");
}
