import { t } from "@lingui/core/macro";
import { ActionIcon, Button, Card, Group, Menu, Stack, Text, Title } from "@mantine/core";
import { type ReactNode, useMemo } from "react";
import type { Node, Workload } from "@/api/types";
import { Icon } from "@/components/Icon";
import { Detail, Hint, RowButton } from "@/components/looks";
import { Section } from "@/components/Page";
import { SchemaForm } from "@/components/schema-form/SchemaForm";
import { readFields } from "@/components/schema-form/schema";
import { problemsOf } from "@/components/schema-form/values";
import { addChoice, type Choice, type Draft } from "./draft";
import { OneProgram } from "./OneProgram";
import { type NodesAtOnce, ownPart } from "./places";
import { RolesInput } from "./RolesInput";
import { nodesOf } from "./roles";
import { isForScratch, placeOf } from "./scratch";

interface WorkloadsSectionProps {
  readonly draft: Draft;
  readonly nodes: readonly Node[];
  readonly workloads: readonly Workload[];
  /** The option that the server rejected, with the index of its workload. */
  readonly refused: { readonly index: number; readonly option: string; readonly message: string } | null;
  readonly onChange: (draft: Draft) => void;
}

export function WorkloadsSection({ draft, nodes, workloads, refused, onChange }: WorkloadsSectionProps) {
  function replace(choice: Choice): void {
    onChange({ ...draft, choices: draft.choices.map((old) => (old.key === choice.key ? choice : old)) });
  }
  return (
    <Section
      actions={<AddMenu onAdd={(name) => onChange(addChoice(draft, name))} workloads={workloads} />}
      description={t`A list such as 64M, 128M, 1G in a size or number tests each value. All combinations are run.`}
      title={t`Workloads`}
    >
      <Stack>
        {draft.choices.length === 0 && (
          <NoChoice onAdd={(name) => onChange(addChoice(draft, name))} workloads={workloads} />
        )}
        {draft.choices.map((choice, index) => {
          const workload = workloads.find(({ name }) => name === choice.workload);
          return (
            <ChoiceCard
              choice={choice}
              key={choice.key}
              onChange={replace}
              onRemove={() =>
                onChange({ ...draft, choices: draft.choices.filter(({ key }) => key !== choice.key) })
              }
              isOnScratch={draft.scratch !== undefined && draft.targets.includes(placeOf(draft.scratch))}
              nodes={nodesOf(draft.nodes, choice)}
              own={ownPart(draft, choice)}
              program={workload && <OneProgram {...{ draft, choice, workload, nodes, onChange }} />}
              refused={refused?.index === index ? { [refused.option]: refused.message } : {}}
              workload={workload}
            />
          );
        })}
      </Stack>
    </Section>
  );
}

/** One click for each workload while there is none; the menu describes them. */
function NoChoice({ workloads, onAdd }: AddMenuProps) {
  if (workloads.length === 0)
    return <Text c="dimmed">{t`No agent in this cluster has announced a workload yet.`}</Text>;
  const names = workloads.map(({ name }) => name).sort();
  return (
    <Group gap="xs">
      {names.map((name) => (
        <RowButton aria-label={t`Add ${name}`} key={name} onClick={() => onAdd(name)}>
          {name}
        </RowButton>
      ))}
    </Group>
  );
}

interface AddMenuProps {
  readonly workloads: readonly Workload[];
  readonly onAdd: (name: string) => void;
}

function AddMenu({ workloads, onAdd }: AddMenuProps) {
  const byTitle = workloads.toSorted((one, other) => one.title.localeCompare(other.title));
  return (
    <Menu position="bottom-start" width={320}>
      <Menu.Target>
        <Button
          disabled={workloads.length === 0}
          leftSection={<Icon name="plus" size={14} />}
          size="xs"
        >{t`Add workload`}</Button>
      </Menu.Target>
      <Menu.Dropdown>
        {byTitle.map((workload) => (
          <Menu.Item key={workload.id} onClick={() => onAdd(workload.name)}>
            {workload.title}
            <Detail>{workload.description}</Detail>
          </Menu.Item>
        ))}
      </Menu.Dropdown>
    </Menu>
  );
}

function describeTogether(together: NodesAtOnce): string {
  if (Array.isArray(together)) return t`${together.join(", ")} nodes at once`;
  return together ? t`nodes at once` : t`one node at a time`;
}

type OwnPart = ReturnType<typeof ownPart>;

interface ChoiceCardProps {
  readonly choice: Choice;
  readonly isOnScratch: boolean;
  readonly nodes: readonly string[];
  readonly own: OwnPart;
  /** How it runs on several nodes, if as one program. */
  readonly program: ReactNode;
  readonly workload: Workload | undefined;
  readonly refused: Readonly<Record<string, string>>;
  readonly onChange: (choice: Choice) => void;
  readonly onRemove: () => void;
}

function ChoiceCard({ choice, isOnScratch, nodes, own, workload, ...props }: ChoiceCardProps) {
  const { program, refused, onChange, onRemove } = props;
  const fields = useMemo(() => (workload ? readFields(workload.options_schema) : []), [workload]);
  return (
    <Card bg="transparent" padding="sm" withBorder>
      <Group justify="space-between" mb="xs" wrap="nowrap">
        <div>
          <Title order={3} size="h5">
            {workload?.title ?? choice.workload}
          </Title>
          <Hint>
            {workload
              ? workload.description
              : t`No agent in this cluster announces this workload. Remove it.`}
          </Hint>
        </div>
        <ActionIcon aria-label={t`Remove ${choice.workload}`} onClick={onRemove} variant="subtle">
          <Icon name="trash" />
        </ActionIcon>
      </Group>
      {own && <OwnPlaces onForget={() => onChange({ ...choice, places: undefined })} own={own} />}
      {(choice.roles || (nodes.length > 1 && workload && workload.step_roles.length > 0)) && (
        <RolesInput nodes={nodes} onChange={(roles) => onChange({ ...choice, roles })} roles={choice.roles} />
      )}
      {program}
      <SchemaForm
        fields={isOnScratch ? fields : fields.filter((field) => !isForScratch(field.name, choice))}
        onChange={(form) => onChange({ ...choice, ...form })}
        problems={{ ...refused, ...problemsOf(fields, choice) }}
        value={choice}
      />
    </Card>
  );
}

/** Nodes, targets and stages that an earlier plan set for this workload only. */
function OwnPlaces({ own, onForget }: { own: NonNullable<OwnPart>; onForget: () => void }) {
  const { nodes, nodes_at_once: together, observers, targets, targets_at_once: atOnce, variants } = own;
  const parts = [
    nodes && t`nodes ${nodes.join(", ") || "none"}`,
    together !== null && describeTogether(together),
    observers && t`monitored on ${observers.join(", ") || t`no other node`}`,
    targets && t`targets ${targets.join(", ") || "none"}`,
    atOnce !== null && (atOnce ? t`targets at once` : t`one target at a time`),
    variants && t`stages ${variants.join(", ") || "none"}`,
  ];
  return (
    <Group justify="space-between" mb="xs">
      <Text size="sm">{t`For this workload: ${parts.filter(Boolean).join("; ")}`}</Text>
      <RowButton onClick={onForget}>{t`Use campaign settings`}</RowButton>
    </Group>
  );
}
