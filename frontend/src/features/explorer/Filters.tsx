/** Which runs are listed, and what is shown of them. */

import { t } from "@lingui/core/macro";
import { Button, Checkbox, Group, Menu, NativeSelect } from "@mantine/core";
import { STATES } from "@/api/states";
import { DayFilter, TextFilter } from "@/components/filters";
import { flagTitle } from "@/components/flagWords";
import { Icon } from "@/components/Icon";
import { StateFilter } from "@/components/StateFilter";
import { COLUMNS, type ExplorerView, hasFilter, USUAL_COLUMNS } from "./view";

/** What there is to choose from; nodes and targets are those of the chosen cluster. */
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
      <NameFilter
        all={t`All workloads`}
        label={t`Workload`}
        names={choices.workloads}
        onName={(workload) => onView({ workload })}
        value={view.workload}
      />
      <PlaceFilter
        all={t`All targets`}
        label={t`Target`}
        onPlace={(target) => onView({ target })}
        places={choices.targets}
        value={view.target}
      />
      <PlaceFilter
        all={t`All nodes`}
        label={t`Node`}
        onPlace={(node) => onView({ node })}
        places={choices.nodes}
        value={view.node}
      />
      <StateFilter onState={(state) => onView({ state })} state={view.state} states={STATES} />
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

interface NameFilterProps {
  readonly label: string;
  readonly all: string;
  readonly names: readonly string[];
  readonly value: string | undefined;
  readonly onName: (name: string | undefined) => void;
}

function NameFilter({ label, all, names, value, onName }: NameFilterProps) {
  const known = value === undefined || names.includes(value) ? names : [value, ...names];
  return (
    <NativeSelect
      aria-label={label}
      data={[{ value: "", label: all }, ...known]}
      onChange={({ currentTarget }) => onName(currentTarget.value || undefined)}
      size="xs"
      value={value ?? ""}
    />
  );
}

interface PlaceFilterProps {
  readonly label: string;
  readonly all: string;
  readonly places: Choices["nodes"];
  readonly value: number | undefined;
  readonly onPlace: (id: number | undefined) => void;
}

/** Only within a cluster: names of others would be mixed with them. */
function PlaceFilter({ label, all, places, value, onPlace }: PlaceFilterProps) {
  if (places.length === 0 && value === undefined) return null;
  const known = places.map(({ id, name }) => ({ value: String(id), label: name }));
  const isKnown = value === undefined || places.some(({ id }) => id === value);
  return (
    <NativeSelect
      aria-label={label}
      data={[
        { value: "", label: all },
        ...known,
        ...(isKnown ? [] : [{ value: String(value), label: `${label} ${value}` }]),
      ]}
      onChange={({ currentTarget }) => onPlace(Number(currentTarget.value) || undefined)}
      size="xs"
      value={String(value ?? "")}
    />
  );
}

function QualityFilters({ view: { validity, flag }, choices, onView }: FiltersProps) {
  const others = choices.flags.filter((code) => code !== flag);
  const codes = flag && flag !== "any" && flag !== "none" ? [flag, ...others] : others;
  return (
    <>
      <NativeSelect
        aria-label={t`Validity`}
        data={[
          { value: "", label: t`Valid and rejected` },
          { value: "valid", label: t`valid` },
          { value: "rejected", label: t`rejected` },
        ]}
        onChange={({ currentTarget: { value } }) =>
          onView({ validity: value === "valid" || value === "rejected" ? value : undefined })
        }
        size="xs"
        value={validity ?? ""}
      />
      <NativeSelect
        aria-label={t`Flag`}
        data={[
          { value: "", label: t`Flagged or not` },
          { value: "none", label: t`Without flags` },
          { value: "any", label: t`With any flag` },
          ...codes.map((code) => ({ value: code, label: flagTitle(code) })),
        ]}
        onChange={({ currentTarget: { value } }) => onView({ flag: value || undefined })}
        size="xs"
        value={flag ?? ""}
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
        <Menu.Item onClick={() => onView({ columns: undefined })}>{t`The usual ones`}</Menu.Item>
      </Menu.Dropdown>
    </Menu>
  );
}
