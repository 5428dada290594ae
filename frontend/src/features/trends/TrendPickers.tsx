import { t } from "@lingui/core/macro";
import { Group, MultiSelect, NativeSelect, Stack, Switch } from "@mantine/core";
import type { Workload } from "@/api/types";
import { Hint } from "@/components/looks";
import { ViewChoice } from "@/components/ViewChoice";
import { plainTitle } from "@/lib/options";
import { MAX_TRACES } from "@/plots/figure";
import { nameVariant } from "./names";
import type { Selection, TrendView } from "./selection";

export type SeriesNames = ReadonlyMap<number, string>;

interface TrendPickersProps {
  readonly names: SeriesNames;
  readonly workload: Workload;
  readonly selection: Selection;
  readonly view: TrendView;
  readonly onView: (change: TrendView) => void;
}

export function TrendPickers({ names, workload, selection, view, onView }: TrendPickersProps) {
  const titles = new Map(workload.metrics.map(({ name, title }) => [name, title]));
  return (
    <Stack gap="xs">
      <Group align="flex-end">
        <NativeSelect
          data={selection.metrics.map((name) => ({
            value: name,
            label: titles.get(name) ?? plainTitle(name),
          }))}
          label={t`Metric`}
          onChange={(event) =>
            onView({ metric: event.currentTarget.value, series: undefined, cell: undefined })
          }
          value={selection.metric}
        />
        <NativeSelect
          data={[{ value: "", label: t`All targets` }, ...selection.targets]}
          label={t`Target`}
          onChange={(event) =>
            onView({ target: event.currentTarget.value || undefined, series: undefined, cell: undefined })
          }
          value={selection.target ?? ""}
        />
        <VariantPicker onView={onView} selection={selection} />
        <ViewChoice
          label={t`View`}
          onView={(chosen) => onView({ view: chosen === "table" ? chosen : undefined })}
          size="sm"
          view={view.view ?? "chart"}
        />
        <Switch
          checked={!view.zoomed}
          label={t`Start axis at zero`}
          mb={8}
          onChange={(event) => onView({ zoomed: event.currentTarget.checked ? undefined : true })}
        />
      </Group>
      <MetricDescription metric={selection.metric} workload={workload} />
      <MultiSelect
        clearable
        data={selection.candidates.map(({ id }) => ({
          value: String(id),
          label: names.get(id) ?? t`series ${id}`,
        }))}
        label={t`Series`}
        maxValues={MAX_TRACES}
        onChange={(ids) => onView({ series: ids.length > 0 ? ids.map(Number) : undefined })}
        searchable
        value={selection.drawn.map(({ id }) => String(id))}
      />
    </Stack>
  );
}

/** Definition of the metric if its title is not enough. */
function MetricDescription({ workload, metric }: { workload: Workload; metric: string }) {
  const description = workload.metrics.find(({ name }) => name === metric)?.description;
  if (!description) return null;
  return <Hint>{description}</Hint>;
}

const ALL_VARIANTS = -1;

/** Variants may have any name, so options are identified by index. */
function VariantPicker({ selection, onView }: Pick<TrendPickersProps, "selection" | "onView">) {
  const { variants, variant } = selection;
  if (variants.length < 2) return null;
  const named = variants.map((name, place) => ({ value: String(place), label: nameVariant(name) }));
  return (
    <NativeSelect
      data={[{ value: String(ALL_VARIANTS), label: t`All variants` }, ...named]}
      label={t`Variant`}
      onChange={(event) => {
        const chosen = variants[Number(event.currentTarget.value)];
        onView({ variant: chosen, series: undefined, cell: undefined });
      }}
      value={String(variant === undefined ? ALL_VARIANTS : variants.indexOf(variant))}
    />
  );
}
