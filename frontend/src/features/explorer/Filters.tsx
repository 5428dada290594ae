import { t } from "@lingui/core/macro";
import { Button, Checkbox, Group, Menu } from "@mantine/core";
import { STATES } from "@/api/states";
import { ChoiceFilter, type ChoiceFilterProps, DayFilter, TextFilter } from "@/components/filters";
import { flagTitle } from "@/components/flagWords";
import { Icon } from "@/components/Icon";
import { COLUMNS, type ExplorerView, hasFilter, USUAL_COLUMNS } from "./view";

/** Choices of the filters. Nodes and targets are those of the chosen cluster. */
export interface Choices {
  readonly workloads: readonly string[];
  readonly nodes: readonly { readonly id: number; readonly name: string }[];
  readonly targets: readonly { readonly id: number; readonly name: string }[];
  readonly flags: readonly string[];
}

interface FiltersProps {
  readonly view: ExplorerView;
  readonly choices: Choices;
  readonly onView: (change: ExplorerView) => void;
}

const NO_FILTER: ExplorerView = {
  cluster: undefined,
  campaign: undefined,
  node: undefined,
  target: undefined,
  workload: undefined,
  state: undefined,
  validity: undefined,
  flag: undefined,
  from: undefined,
  to: undefined,
  text: undefined,
};

export function Filters({ view, choices, onView }: FiltersProps) {
  return (
    <Group align="flex-end" gap="xs">
      <TextFilter
        label={t`Search runs`}
        leftSection={<Icon name="search" size={14} />}
        onText={(text) => onView({ text })}
        placeholder={t`Campaign, node, target, workload`}
        value={view.text}
        width={240}
      />
      <ChoiceFilter
        all={t`All workloads`}
        choices={choices.workloads}
        label={t`Workload`}
        onChoose={(workload) => onView({ workload })}
        value={view.workload}
      />
      <PlaceFilter
        all={t`All targets`}
        label={t`Target`}
        onChoose={(target) => onView({ target })}
        places={choices.targets}
        value={view.target}
      />
      <PlaceFilter
        all={t`All nodes`}
        label={t`Node`}
        onChoose={(node) => onView({ node })}
        places={choices.nodes}
        value={view.node}
      />
      <ChoiceFilter
        all={t`All states`}
        choices={STATES}
        label={t`State`}
        onChoose={(state) => onView({ state })}
        value={view.state}
      />
      <QualityFilters choices={choices} onView={onView} view={view} />
      <DayFilter label={t`From`} onDay={(from) => onView({ from })} value={view.from} />
      <DayFilter label={t`To`} onDay={(to) => onView({ to })} value={view.to} />
      {hasFilter(view) && (
        <Button onClick={() => onView(NO_FILTER)} size="xs" variant="default">{t`Clear filters`}</Button>
      )}
      <ColumnPicker onView={onView} view={view} />
    </Group>
  );
}

interface PlaceFilterProps extends Omit<ChoiceFilterProps<number>, "choices"> {
  readonly places: Choices["nodes"];
}

/** Shown only within a cluster, since names repeat across clusters. */
function PlaceFilter({ places, ...filter }: PlaceFilterProps) {
  if (places.length === 0 && filter.value === undefined) return null;
  return <ChoiceFilter {...filter} choices={places.map(({ id, name }) => ({ value: id, label: name }))} />;
}

function QualityFilters({ view: { validity, flag }, choices, onView }: FiltersProps) {
  const others = choices.flags.filter((code) => code !== flag);
  const codes = flag && flag !== "any" && flag !== "none" ? [flag, ...others] : others;
  return (
    <>
      <ChoiceFilter
        all={t`Valid and rejected`}
        choices={[
          { value: "valid", label: t`valid` },
          { value: "rejected", label: t`rejected` },
        ]}
        label={t`Validity`}
        onChoose={(chosen) => onView({ validity: chosen })}
        value={validity}
      />
      <ChoiceFilter
        all={t`With or without flags`}
        choices={[
          { value: "none", label: t`Without flags` },
          { value: "any", label: t`With any flag` },
          ...codes.map((code) => ({ value: code, label: flagTitle(code) })),
        ]}
        label={t`Flag`}
        onChoose={(chosen) => onView({ flag: chosen })}
        value={flag}
      />
    </>
  );
}

function ColumnPicker({ view, onView }: Pick<FiltersProps, "view" | "onView">) {
  const chosen = view.columns ?? USUAL_COLUMNS;
  return (
    <Menu closeOnItemClick={false} position="bottom-end">
      <Menu.Target>
        <Button size="xs" variant="default">{t`Columns`}</Button>
      </Menu.Target>
      <Menu.Dropdown>
        {COLUMNS.map(({ id, title }) => (
          <Menu.Item
            aria-checked={chosen.includes(id)}
            key={id}
            leftSection={<Checkbox.Indicator checked={chosen.includes(id)} size="xs" />}
            onClick={() =>
              onView({ columns: chosen.includes(id) ? chosen.filter((one) => one !== id) : [...chosen, id] })
            }
            role="menuitemcheckbox"
          >
            {title}
          </Menu.Item>
        ))}
        <Menu.Divider />
        <Menu.Item onClick={() => onView({ columns: undefined })}>{t`Default columns`}</Menu.Item>
      </Menu.Dropdown>
    </Menu>
  );
}
