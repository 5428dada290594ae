import { t } from "@lingui/core/macro";
import { Chip, Group, NativeSelect, Stack, Text } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { type ReactNode, useMemo, useState } from "react";
import type { Curve, RunDetail } from "@/api/types";
import { Fold } from "@/components/Fold";
import { Hint } from "@/components/looks";
import { useOrigin } from "@/components/Origin";
import { Loaded } from "@/components/Page";
import { useScheme } from "@/components/preferences";
import { ScrollTable } from "@/components/ScrollTable";
import { type View, ViewChoice } from "@/components/ViewChoice";
import { Quantity } from "@/components/values";
import { formatDuration, type Unit } from "@/lib/units";
import { type CounterGroup, type CounterPanel, groupsOf } from "@/plots/counters";
import { type CurveLine, counterTitle, counterUnit, curvesFigure, curvesHeight } from "@/plots/curve";
import { Plot } from "@/plots/Plot";
import { curvePanels, linesOf, stepMarks } from "./curvePanels";
import { isTooShortForCurve, loadSeconds } from "./loadTime";
import { countersQuery, curvesQuery } from "./queries";

const SAMPLE_SECONDS = 1;

interface CurveSectionProps {
  readonly run: RunDetail;
  /** Keys of the shown groups; undefined: the default. */
  readonly shown: readonly string[] | undefined;
  readonly onShow: (keys: readonly string[]) => void;
}

export function CurveSection({ run, shown, onShow }: CurveSectionProps) {
  const seconds = isTooShortForCurve(run, SAMPLE_SECONDS) ? loadSeconds(run) : null;
  if (seconds !== null)
    return (
      <Fold summary={t`none: the benchmark ran for only ${formatDuration(seconds)}`} title={t`Curves`}>
        <Hint>{t`Samples are taken once a second, so a shorter benchmark has no curve.`}</Hint>
      </Fold>
    );
  return (
    <Fold isOpenAtFirst={shown !== undefined} summary={t`node counters during the run`} title={t`Curves`}>
      <Counters onShow={onShow} run={run} shown={shown} />
    </Fold>
  );
}

function Counters({ run, shown, onShow }: CurveSectionProps) {
  const counters = useQuery(countersQuery(run.id));
  return (
    <Loaded empty={whyNoCurve(run, useOrigin(run.cluster_id))} query={counters}>
      {(names) => <CounterGroups groups={groupsOf(names)} onShow={onShow} run={run} shown={shown} />}
    </Loaded>
  );
}

function whyNoCurve({ started_at, ended_at }: RunDetail, origin: ReturnType<typeof useOrigin>): string {
  if (origin === "published") return t`No curve: this is a published result without curves.`;
  if (ended_at === null) return t`No curve yet.`;
  if (started_at === null) return t`No curve: the run never started.`;
  if (origin === "made_up")
    return t`No curve: sample data has curves only for reads and writes of its last two weeks.`;
  return t`No curve: the run was too short.`;
}

function CounterGroups({
  groups,
  run,
  shown,
  onShow,
}: CurveSectionProps & { readonly groups: readonly CounterGroup[] }) {
  const keys = shown ?? usualGroups(groups);
  const panels = groups.filter(({ key }) => keys.includes(key)).flatMap((group) => group.panels);
  return (
    <Stack>
      <Chip.Group multiple onChange={onShow} value={[...keys]}>
        <Group aria-label={t`Counters`} gap="xs" role="group">
          {groups.map(({ key, title }) => (
            <Chip key={key} size="xs" value={key}>
              {title}
            </Chip>
          ))}
        </Group>
      </Chip.Group>
      {panels.length > 0 ? (
        <ShownCurves panels={panels} run={run} />
      ) : (
        <Text c="dimmed">{t`Select counters to show.`}</Text>
      )}
    </Stack>
  );
}

/** Throughput and CPU. */
function usualGroups(groups: readonly CounterGroup[]): string[] {
  return groups.filter(({ key }, place) => place === 0 || key === "cpu").map(({ key }) => key);
}

function ShownCurves({ panels, run }: { panels: readonly CounterPanel[]; run: RunDetail }) {
  const curves = useQuery(
    curvesQuery(
      run.id,
      panels.flatMap(({ lines }) => Object.keys(lines)),
    ),
  );
  const [view, setView] = useState<View>("chart");
  return (
    <Loaded empty={t`No values of these counters yet.`} query={curves}>
      {(rows) => (
        <>
          <Group justify="space-between">
            <Hint>{describeSteps(rows)}</Hint>
            <ViewChoice label={t`View of the curves`} onView={setView} view={view} />
          </Group>
          {view === "chart" ? (
            <CurveChart curves={rows} panels={panels} run={run} />
          ) : (
            <CurveTable curves={rows} run={run} />
          )}
        </>
      )}
    </Loaded>
  );
}

/** Long runs are shown as means of several seconds. */
function describeSteps(curves: readonly Curve[]): string {
  const stepSeconds = curves.reduce((longest, { step_seconds }) => Math.max(longest, step_seconds), 0);
  const isThinned = curves.some(({ lows }) => lows !== null);
  return isThinned
    ? t`Means over ${formatDuration(stepSeconds)}. The band shows minimum to maximum.`
    : t`One value per second.`;
}

interface CurveChartProps {
  readonly curves: readonly Curve[];
  readonly panels: readonly CounterPanel[];
  readonly run: RunDetail;
}

function CurveChart({ curves, panels: wanted, run }: CurveChartProps) {
  const scheme = useScheme();
  const { panels, still, short } = useMemo(() => curvePanels(wanted, curves, run), [wanted, curves, run]);
  const figure = useMemo(
    () => curvesFigure(panels, stepMarks(run, curves), scheme),
    [panels, curves, run, scheme],
  );
  const titles = panels.map(({ title }) => title);
  return (
    <>
      {panels.length > 0 && (
        <Plot
          figure={figure}
          height={curvesHeight(panels.length)}
          label={t`${titles.join(", ")} over time`}
          viewKey={`${run.id} ${titles.join()}`}
        />
      )}
      {wanted
        .filter(({ title }) => titles.some((drawn) => drawn === title || drawn.endsWith(`: ${title}`)))
        .map(({ title, says }) => (
          <Hint key={title}>
            <b>{title}:</b> {says}
          </Hint>
        ))}
      {short.length > 0 && <Hint>{t`Not drawn because of a single sample: ${short.join(", ")}.`}</Hint>}
      {still.length > 0 && <Hint>{t`Not drawn because always 0: ${still.join(", ")}.`}</Hint>}
    </>
  );
}

function CurveTable({ curves, run }: { curves: readonly Curve[]; run: RunDetail }) {
  const counters = [...new Set(curves.map(({ counter }) => counter))];
  const [chosen, setChosen] = useState<string>();
  const counter = counters.find((name) => name === chosen) ?? counters[0] ?? "";
  const lines = linesOf(curves, counter, run);
  const hasRange = lines.some(({ range }) => range !== null);
  return (
    <Stack gap="xs">
      <NativeSelect
        aria-label={t`Counter`}
        data={counters.map((name) => ({ value: name, label: counterTitle(name) }))}
        onChange={(event) => setChosen(event.currentTarget.value)}
        value={counter}
      />
      <ScrollTable
        head={[t`Second`, ...(hasRange ? [t`Mean`, t`Min`, t`Max`] : [t`Value`]), t`Node`]}
        label={t`${counterTitle(counter)} by second`}
        maxHeight={300}
      >
        {lines.flatMap((line) => line.values.map((_, index) => curveRow(line, index, counterUnit(counter))))}
      </ScrollTable>
    </Stack>
  );
}

function curveRow(
  { name, values, range, firstSecond, stepSeconds }: CurveLine,
  index: number,
  unit: Unit,
): ReactNode {
  const second = firstSecond + index * stepSeconds;
  return (
    <tr key={`${name} ${second}`}>
      <td>{second}</td>
      {[values, ...(range ? [range.low, range.high] : [])].map((column, place) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: columns never move
        <td key={place}>
          <Quantity unit={unit} value={column[index] ?? null} />
        </td>
      ))}
      <td>{name}</td>
    </tr>
  );
}
