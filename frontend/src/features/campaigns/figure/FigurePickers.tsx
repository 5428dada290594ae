/** Controls of a figure. Every choice is in the address. */

import { t } from "@lingui/core/macro";
import { Button, Group, NativeSelect } from "@mantine/core";
import type { CampaignMeasures } from "@/api/types";
import { Hint } from "@/components/looks";
import { useTitlesOf } from "@/components/optionTitles";
import type { TitleOf } from "@/lib/options";
import {
  type FigureKind,
  type FigureView,
  freeOf,
  isOfMany,
  type Layout,
  type Measure,
  placeOf,
  textsOf,
} from "./choice";
import { type FigureRow, titleOfDimension } from "./rows";
import { seedsOf } from "./seeds";

interface FigurePickersProps {
  readonly workloads: readonly string[];
  readonly workload: string;
  readonly measures: readonly Measure[];
  readonly shown: Measure;
  readonly beside: Measure | undefined;
  readonly layout: Layout;
  readonly view: FigureView;
  readonly onView: (view: FigureView) => void;
}

const KIND_TITLES: Readonly<Record<FigureKind, string>> = {
  points: t`Points with bars or lines`,
  map: t`Heat map of two sizes`,
  ratio: t`Ratio of two heat maps`,
  parts: t`Stacked parts`,
  scaling: t`Scaling over tasks`,
};

export function FigurePickers(props: FigurePickersProps) {
  const { workloads, workload, measures, shown, beside, layout, view, onView } = props;
  const titleOf = useTitlesOf()(workload);
  const all = layout.dimensions.map((name) => ({ value: name, label: titleOfDimension(name, titleOf) }));
  const titled = measures.map(({ key, title }) => ({ value: key, label: title }));
  // Another measure has other dimensions, so reset the choices among them.
  const show = (key: string) => onView({ workload, show: key });
  return (
    <details className="iotide-beside">
      <summary>{t`Change figure`}</summary>
      <Group align="flex-end" gap="xs" mt={4}>
        {workloads.length > 1 && (
          <Pick
            label={t`Workload`}
            onPick={(name) => onView({ workload: name })}
            options={workloads}
            value={workload}
          />
        )}
        <Pick label={t`Metric`} onPick={show} options={titled} value={shown.key} />
        <Pick
          label={t`Second metric`}
          onPick={(key) => onView({ ...view, show: shown.key, beside: key })}
          options={[{ value: "", label: t`none` }, ...titled.filter(({ value }) => value !== shown.key)]}
          value={beside?.key ?? ""}
        />
        {layout.kinds.length > 1 && (
          <Pick
            label={t`Kind`}
            onPick={(kind) => onView({ ...view, kind: kind as FigureKind, x: undefined, split: undefined })}
            options={layout.kinds.map((kind) => ({ value: kind, label: KIND_TITLES[kind] }))}
            value={layout.kind}
          />
        )}
        {(layout.kind === "points" || layout.kind === "parts") && (
          <Pick
            label={t`X axis`}
            onPick={(x) => onView({ ...view, x })}
            options={
              layout.kind === "points"
                ? [...all, { value: "run", label: t`Run order` }]
                : all.filter(({ value }) => value !== "part" && value !== "operation")
            }
            value={layout.axes[0] ?? "run"}
          />
        )}
        <SplitPick layout={layout} onView={onView} titleOf={titleOf} view={view} />
        <PinPicks layout={layout} onView={onView} titleOf={titleOf} view={view} />
        <BasePick layout={layout} onView={onView} titleOf={titleOf} view={view} />
      </Group>
    </details>
  );
}

interface PartProps extends Pick<FigurePickersProps, "layout" | "view" | "onView"> {
  readonly titleOf: TitleOf;
}

function SplitPick({ layout, view, onView, titleOf }: PartProps) {
  const { kind, axes, dimensions, split, against, rows } = layout;
  const free = freeOf(kind, dimensions, axes);
  if (free.length === 0) return null;
  const options = free.map((name) => ({ value: name, label: titleOfDimension(name, titleOf) }));
  return (
    <>
      <Pick
        label={kind === "ratio" ? t`Compare by` : t`Split into panels by`}
        onPick={(name) => onView({ ...view, split: name, against: undefined })}
        options={[...(kind === "ratio" ? [] : [{ value: "", label: t`none` }]), ...options]}
        value={split ?? ""}
      />
      {kind === "ratio" && split && (
        <Pick
          label={t`Baseline`}
          onPick={(text) => onView({ ...view, against: text })}
          options={textsOf(rows, split)}
          value={against ?? ""}
        />
      )}
    </>
  );
}

function BasePick({ layout: { kind, dimensions, base, rows }, view, onView }: PartProps) {
  const name = placeOf(dimensions);
  if (!name || (kind !== "points" && kind !== "parts")) return null;
  return (
    <Pick
      label={t`Show relative to`}
      onPick={(text) => onView({ ...view, against: text || undefined })}
      options={[{ value: "", label: t`none` }, ...textsOf(rows, name)]}
      value={base?.text ?? ""}
    />
  );
}

/** A filter for each dimension that is neither an axis nor split into panels. */
function PinPicks({ layout, view, onView, titleOf }: PartProps) {
  const { kind, series, pins, all } = layout;
  const pin = (name: string, text: string) => {
    const { [name]: _, ...others } = view.only ?? {};
    onView({ ...view, only: text === "" ? others : { ...others, [name]: text } });
  };
  return [...Object.keys(pins), ...series].map((name) => (
    <Pick
      key={name}
      label={titleOfDimension(name, titleOf)}
      onPick={(text) => pin(name, text)}
      options={[...(isOfMany(kind) ? [{ value: "", label: t`all` }] : []), ...textsOf(all, name)]}
      value={pins[name] ?? ""}
    />
  ));
}

interface PickProps {
  readonly label: string;
  readonly value: string;
  readonly options: readonly (string | { readonly value: string; readonly label: string })[];
  readonly onPick: (value: string) => void;
}

function Pick({ label, value, options, onPick }: PickProps) {
  return (
    <NativeSelect
      data={[...options]}
      label={label}
      maw={240}
      onChange={(event) => onPick(event.currentTarget.value)}
      size="xs"
      value={value}
    />
  );
}

interface SeedButtonsProps {
  readonly measures: CampaignMeasures;
  readonly workload: string;
  readonly rows: readonly FigureRow[];
  readonly view: FigureView;
  readonly onView: (view: FigureView) => void;
}

export function SeedButtons({ measures, workload, rows, view, onView }: SeedButtonsProps) {
  const seeds = seedsOf(measures.metrics, workload, rows);
  if (seeds.length === 0) return null;
  return (
    <Group aria-label={t`Common figures`} gap="xs" role="group">
      <Hint>{t`Show`}</Hint>
      {seeds.map((seed) => {
        const isShown =
          view.show === seed.view.show && view.kind === seed.view.kind && view.x === seed.view.x;
        return (
          <Button
            aria-pressed={isShown}
            key={seed.title}
            onClick={() => onView(seed.view)}
            size="compact-xs"
            variant={isShown ? "light" : "default"}
          >
            {seed.title}
          </Button>
        );
      })}
    </Group>
  );
}
