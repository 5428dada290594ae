/** Description of one program over several nodes, with one-click choices of nodes and tasks. */

import { t } from "@lingui/core/macro";
import { Alert, Group, Stack, Text } from "@mantine/core";
import type { Node, Workload } from "@/api/types";
import { Hint, RowButton } from "@/components/looks";
import { readFields } from "@/components/schema-form/schema";
import { shownText, sweptValues } from "@/components/schema-form/values";
import { type Choice, type Draft, doubledCounts } from "./draft";
import { countsOf, describeProgram, isOneProgram, lacksOf, mostTasks, tasksOf } from "./gang";
import { ownPart } from "./places";
import { nodesOf } from "./roles";

interface OneProgramProps {
  readonly draft: Draft;
  readonly choice: Choice;
  readonly workload: Workload;
  readonly nodes: readonly Node[];
  readonly onChange: (draft: Draft) => void;
}

/** Renders nothing for a workload whose nodes each start a program of their own. */
export function OneProgram({ draft, choice, workload, nodes, onChange }: OneProgramProps) {
  if (choice.roles || !isOneProgram(workload, choice)) return null;
  const names = nodesOf(draft.nodes, choice);
  if (names.length < 2)
    return (
      <Hint mb="sm">{t`It can run as one program over several nodes. Choose at least two nodes for that.`}</Hint>
    );
  const together = ownPart(draft, choice)?.nodes_at_once ?? draft.nodesAtOnce;
  const counts = countsOf(together, names.length);
  const isOne = counts.some((count) => count > 1);
  const chosen = nodes.filter(({ name }) => names.includes(name));
  const lacks = isOne ? lacksOf(chosen) : [];
  return (
    <Stack gap="xs" mb="sm">
      <Text size="sm">
        {isOne
          ? describeProgram(names[0] ?? "", counts, tasksIn(workload, choice))
          : t`Each node runs a program of its own, one node at a time.`}
      </Text>
      <Group aria-label={t`Scale ${workload.title}`} gap="xs" role="group">
        <NodeButtons choice={choice} count={names.length} draft={draft} onChange={onChange} />
        <TaskButton choice={choice} draft={draft} nodes={chosen} onChange={onChange} workload={workload} />
      </Group>
      {lacks.map((lack) => (
        <Alert color="orange" key={lack} p="xs">
          {lack}
        </Alert>
      ))}
    </Stack>
  );
}

type ButtonProps = Pick<OneProgramProps, "draft" | "choice" | "onChange">;

/** A choice with its own number of nodes at once keeps it. */
function NodeButtons({ draft, choice, count, onChange }: ButtonProps & { readonly count: number }) {
  if ((choice.places?.nodes_at_once ?? null) !== null) return null;
  const growing = doubledCounts(count);
  const together = draft.nodesAtOnce;
  return (
    <>
      <Toggle
        isOn={together === true}
        label={t`All ${count} nodes`}
        onClick={() => onChange({ ...draft, nodesAtOnce: true })}
      />
      <Toggle
        isOn={String(together) === String(growing)}
        label={t`${growing.join(", ")} nodes`}
        onClick={() => onChange({ ...draft, nodesAtOnce: doubledCounts(draft.nodes.length) })}
      />
    </>
  );
}

function TaskButton({ draft, choice, workload, nodes, onChange }: OneProgramProps) {
  const option = tasksOf(workload);
  if (option === undefined) return null;
  const counts = doubledCounts(mostTasks(nodes));
  const { [option]: _, ...options } = choice.options;
  const swept: Choice = { ...choice, options, sweep: { ...choice.sweep, [option]: counts } };
  return (
    <Toggle
      isOn={String(choice.sweep[option]) === String(counts)}
      label={t`${counts.join(", ")} tasks per node`}
      onClick={() =>
        onChange({ ...draft, choices: draft.choices.map((one) => (one.key === choice.key ? swept : one)) })
      }
    />
  );
}

interface ToggleProps {
  readonly isOn: boolean;
  readonly label: string;
  readonly onClick: () => void;
}

function Toggle({ isOn, label, onClick }: ToggleProps) {
  return (
    <RowButton aria-pressed={isOn} onClick={onClick} variant={isOn ? "light" : "default"}>
      {label}
    </RowButton>
  );
}

/** Tasks of a node as text, one for each value of a sweep. */
function tasksIn(workload: Workload, choice: Choice): string[] {
  const option = tasksOf(workload);
  const field = readFields(workload.options_schema).find(({ name }) => name === option);
  if (option === undefined || !field) return [];
  const single = choice.options[option] ?? workload.option_defaults[option];
  return (sweptValues(field, choice) ?? [single]).map((value) => shownText(field, value));
}
