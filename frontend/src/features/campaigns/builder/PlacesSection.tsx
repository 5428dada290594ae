import { t } from "@lingui/core/macro";
import { Group, Input, MultiSelect, SegmentedControl, SimpleGrid, Switch } from "@mantine/core";
import type { Node, Target } from "@/api/types";
import { Section } from "@/components/Page";
import { formatValue } from "@/lib/units";
import { type Draft, doubledCounts, pickNodes } from "./draft";
import { PickList } from "./PickList";
import { placeOf } from "./scratch";

interface PlacesSectionProps {
  readonly draft: Draft;
  readonly nodes: readonly Node[];
  readonly targets: readonly Target[];
  readonly onChange: (draft: Draft) => void;
}

export function PlacesSection({ draft, nodes, targets, onChange }: PlacesSectionProps) {
  return (
    <Section description={describePlaces(draft)} title={t`Nodes and targets`}>
      <SimpleGrid cols={{ base: 1, sm: 2 }}>
        <PickList
          empty={t`This cluster has no nodes yet. Add one on the cluster page.`}
          items={nodes.map((node) => ({ name: node.name, detail: describeNode(node) }))}
          label={t`Nodes`}
          onPick={(picked) => onChange(pickNodes(draft, picked))}
          picked={draft.nodes}
        />
        <PickList
          empty={t`This cluster has no targets yet. Select mounts on the cluster page.`}
          items={[
            ...(draft.scratch ? [{ name: placeOf(draft.scratch), detail: t`made by the campaign` }] : []),
            ...targets.map((target) => ({ name: target.name, detail: describeTarget(target) })),
          ]}
          label={t`Targets`}
          onPick={(picked) => onChange({ ...draft, targets: picked })}
          picked={draft.targets}
        />
      </SimpleGrid>
      {draft.nodes.length > 1 && <NodesTogether draft={draft} onChange={onChange} />}
      {draft.targets.length > 1 && (
        <Switch
          checked={draft.targetsAtOnce}
          description={t`Each run uses all targets at once, to measure how they share common resources.`}
          label={t`All targets at once`}
          mt="md"
          onChange={({ currentTarget }) => onChange({ ...draft, targetsAtOnce: currentTarget.checked })}
        />
      )}
    </Section>
  );
}

const TOGETHER = [
  { value: "alone", label: t`One at a time` },
  { value: "all", label: t`All at once` },
  { value: "growing", label: t`Scale up (1, 2, 4, …)` },
];

function NodesTogether({ draft, onChange }: Pick<PlacesSectionProps, "draft" | "onChange">) {
  const { nodes, nodesAtOnce } = draft;
  const counts = Array.isArray(nodesAtOnce) ? nodesAtOnce : null;
  const choose = (value: string) =>
    onChange({ ...draft, nodesAtOnce: value === "growing" ? doubledCounts(nodes.length) : value === "all" });
  return (
    <Group align="flex-start" mt="md">
      <Input.Wrapper
        description={t`Nodes at once start together. The sum of their rates is shown too, unless they run one program.`}
        label={t`Nodes at once`}
        maw="100%"
      >
        <SegmentedControl
          aria-label={t`Nodes at once`}
          data={TOGETHER}
          mt={4}
          maw="100%"
          onChange={choose}
          style={{ overflowX: "auto" }}
          value={counts ? "growing" : nodesAtOnce ? "all" : "alone"}
        />
      </Input.Wrapper>
      {counts && (
        <MultiSelect
          data={nodes.map((_, index) => String(index + 1))}
          description={t`For each count, that many nodes run at once, in the order of the list.`}
          label={t`Node counts`}
          limit={64}
          onChange={(picked) =>
            onChange({ ...draft, nodesAtOnce: picked.map(Number).toSorted((a, b) => a - b) })
          }
          searchable
          value={counts.map(String)}
        />
      )}
    </Group>
  );
}

function describePlaces({ nodes, nodesAtOnce, targetsAtOnce }: Draft): string {
  const targets = targetsAtOnce ? t`on all targets at once` : t`on each target`;
  if (nodes.length < 2 || nodesAtOnce === false) return t`One node runs at a time, ${targets}.`;
  if (nodesAtOnce === true) return t`All nodes run at once, ${targets}.`;
  return t`A growing number of nodes runs at once, ${targets}.`;
}

function describeNode(node: Node): string {
  const missing = node.workloads.filter(({ available }) => !available).map(({ name }) => name);
  return [node.state, missing.length > 0 ? t`cannot run ${missing.join(", ")}` : ""]
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
