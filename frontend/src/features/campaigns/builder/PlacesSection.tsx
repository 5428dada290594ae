import { t } from "@lingui/core/macro";
import { Trans } from "@lingui/react/macro";
import {
  Checkbox,
  Group,
  Input,
  MultiSelect,
  ScrollArea,
  SegmentedControl,
  SimpleGrid,
  Stack,
  Switch,
  Text,
  TextInput,
} from "@mantine/core";
import { type ReactNode, useState } from "react";
import type { Node, Target } from "@/api/types";
import { Detail, RowButton } from "@/components/looks";
import { Section } from "@/components/Page";
import { hostMatcher } from "@/lib/hostList";
import { formatValue } from "@/lib/units";
import { type Draft, doubledCounts, pickNodes } from "./draft";

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
          items={targets.map((target) => ({ name: target.name, detail: describeTarget(target) }))}
          label={t`Targets`}
          onPick={(picked) => onChange({ ...draft, targets: picked })}
          picked={draft.targets}
        />
      </SimpleGrid>
      {draft.nodes.length > 1 && <NodesTogether draft={draft} onChange={onChange} />}
      <AlsoWatch draft={draft} nodes={nodes} onChange={onChange} />
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

/** Offers nodes without load, such as storage servers, and those that an earlier plan monitored. */
function AlsoWatch({ draft, nodes, onChange }: Omit<PlacesSectionProps, "targets">) {
  const others = nodes.filter(({ name }) => !draft.nodes.includes(name) || draft.observers.includes(name));
  if (others.length === 0 || draft.nodes.length === 0) return null;
  return (
    <Stack gap={4} mt="md">
      <PickList
        empty={null}
        items={others.map(({ name, role, state }) => ({ name, detail: `${role}, ${state}` }))}
        label={t`Also monitor (no load)`}
        onPick={(picked) => onChange({ ...draft, observers: picked })}
        picked={draft.observers}
      />
      <Detail>
        <Trans>CPU, disk and network are sampled during the runs, without locking these nodes.</Trans>
      </Detail>
    </Stack>
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
        description={t`Nodes that run at once start at the same moment. The sum of their rates is shown too.`}
        label={t`Nodes at once`}
      >
        <SegmentedControl
          aria-label={t`Nodes at once`}
          data={TOGETHER}
          mt={4}
          onChange={choose}
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

interface PickItem {
  readonly name: string;
  readonly detail: ReactNode;
}

interface PickListProps {
  readonly label: string;
  readonly items: readonly PickItem[];
  readonly picked: readonly string[];
  readonly onPick: (names: string[]) => void;
  /** Shown without items: how to add some. */
  readonly empty: ReactNode;
}

const FILTER_FROM = 10;

function PickList({ label, items, picked, onPick, empty }: PickListProps) {
  const [filter, setFilter] = useState("");
  if (items.length === 0) return <Text c="dimmed">{empty}</Text>;
  const isListed =
    hostMatcher(filter) ?? ((name: string) => name.toLowerCase().includes(filter.toLowerCase()));
  const shown = items.filter(({ name }) => isListed(name));
  return (
    <Checkbox.Group label={label} onChange={onPick} value={[...picked]}>
      <Stack gap="xs" mt={4}>
        <Group gap="xs">
          {items.length > FILTER_FROM && (
            <TextInput
              aria-label={t`Filter: ${label}`}
              onChange={(event) => setFilter(event.currentTarget.value)}
              placeholder={t`Filter, or node[001-128]`}
              size="xs"
              value={filter}
            />
          )}
          <RowButton onClick={() => onPick(shown.map(({ name }) => name))}>{t`All`}</RowButton>
          <RowButton onClick={() => onPick([])}>{t`None`}</RowButton>
          <Detail>{t`${picked.length} of ${items.length} selected`}</Detail>
        </Group>
        <ScrollArea.Autosize mah={260} type="auto">
          <Stack gap={6}>
            {shown.map(({ name, detail }) => (
              <Checkbox description={detail} key={name} label={name} value={name} />
            ))}
          </Stack>
        </ScrollArea.Autosize>
      </Stack>
    </Checkbox.Group>
  );
}
