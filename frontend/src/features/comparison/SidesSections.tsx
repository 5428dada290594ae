/** Many sides beside each other: what is unlike first where that matters, then the figure, and every verdict in a table. */

import { t } from "@lingui/core/macro";
import { Trans } from "@lingui/react/macro";
import { Group, NativeSelect, Stack, Text } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { useMemo } from "react";
import type { SidesComparison } from "@/api/types";
import { ExportMenu } from "@/components/ExportMenu";
import { Loaded } from "@/components/Loaded";
import { useDescriber, useTitlesOf } from "@/components/optionTitles";
import { Section } from "@/components/Page";
import { useScheme } from "@/components/scheme";
import { UnmeasuredLoad } from "@/components/UnmeasuredLoad";
import type { ExportTable } from "@/lib/exported";
import { Plot } from "@/plots/Plot";
import { shiftsFigure, shiftsHeight } from "@/plots/shifts";
import { sidesTable } from "./exports";
import { type ComparedMany, sidesQuery } from "./queries";
import type { RenderRepeats } from "./repeats";
import { SidesDifferences } from "./SidesDifferences";
import { SidesTable } from "./SidesTable";
import {
  MOST_DRAWN_ROWS,
  metricsOf,
  type NamedRow,
  placesOf,
  rowsWith,
  sideNames,
  sidesFigure,
  sidesShifts,
  textOfPart,
  titleOfDimension,
} from "./sidesFigures";

/** The part of the address that belongs to it. */
export interface SidesView {
  readonly by?: string | undefined;
  /** The place of the baseline among the sides. */
  readonly against?: number | undefined;
  /** The number that is drawn. */
  readonly metric?: string | undefined;
}

interface SidesSectionsProps {
  readonly many: ComparedMany;
  readonly view: SidesView;
  readonly onView: (change: SidesView) => void;
  readonly renderRepeats: RenderRepeats;
}

export function SidesSections({ many, ...rest }: SidesSectionsProps) {
  const comparison = useQuery(sidesQuery(many));
  return (
    <Loaded
      empty={
        <Text c="dimmed">
          <Trans>
            Nothing to compare: these cells differ in nothing that was measured on two sides. Choose a
            campaign over several targets, nodes or options, or another one beside it.
          </Trans>
        </Text>
      }
      isEmpty={({ rows }) => rows.every(({ metrics }) => metrics.length === 0)}
      lines={8}
      query={comparison}
    >
      {(found) => (
        <>
          <UnmeasuredLoad campaignIds={many.campaigns} />
          <Sides found={found} {...rest} />
        </>
      )}
    </Loaded>
  );
}

interface SidesProps extends Omit<SidesSectionsProps, "many"> {
  readonly found: SidesComparison;
}

function Sides({ found, view, onView, renderRepeats }: SidesProps) {
  const names = useMemo(() => sideNames(found), [found]);
  const titleOf = useTitlesOf()(found.rows[0]?.workload ?? "");
  const named = useNamedRows(found);
  const choices = metricsOf(found.rows, titleOf);
  const chosen = choices.find(({ key }) => key === view.metric) ?? choices[0];
  const rows = useMemo(() => rowsWith(named, chosen?.key ?? ""), [named, chosen?.key]);
  const isUnlike = found.rows.some(({ cells }) => cells.some((cell) => cell && !cell.is_alike));
  const differences = <SidesDifferences found={found} isUnlike={isUnlike} named={named} names={names} />;
  const exported = () => sidesTable(found, names, chosen?.key);
  return (
    <>
      {isUnlike && differences}
      <Section
        actions={
          <>
            <ExportMenu name={t`Comparison`} table={() => sidesTable(found, names)} />
            <Choices chosen={chosen?.key} choices={choices} found={found} names={names} onView={onView} />
          </>
        }
        title={chosen?.title ?? t`Figure`}
      >
        <SidesFigures exported={exported} names={names} rows={rows} title={chosen?.title ?? ""} />
      </Section>
      <Section
        description={t`Ratios of Hodges and Lehmann to the baseline, with their exact 95 % intervals; of fewer than four runs the ratio of medians, grey and without one.`}
        title={t`Verdicts`}
      >
        <SidesTable
          against={found.against}
          exported={exported}
          names={names}
          renderRepeats={renderRepeats}
          rows={rows}
        />
        <LeftOut found={found} />
      </Section>
      {!isUnlike && differences}
    </>
  );
}

interface ChoicesProps {
  readonly found: SidesComparison;
  readonly names: readonly string[];
  readonly choices: ReturnType<typeof metricsOf>;
  readonly chosen: string | undefined;
  readonly onView: (change: SidesView) => void;
}

/** By what, against which side, and which number. */
function Choices({ found, names, choices, chosen, onView }: ChoicesProps) {
  const titleOf = useTitlesOf()(found.rows[0]?.workload ?? "");
  return (
    <Group gap="xs">
      {found.by !== "cell" && (
        <NativeSelect
          aria-label={t`Compare by`}
          data={found.dimensions.map((value) => ({
            value,
            label: t`By ${titleOfDimension(value, titleOf).toLowerCase()}`,
          }))}
          onChange={({ currentTarget: { value } }) => onView({ by: value, against: undefined })}
          size="xs"
          value={found.by ?? ""}
        />
      )}
      <NativeSelect
        aria-label={t`Baseline`}
        data={names.map((label, place) => ({ value: String(place), label: t`Against ${label}` }))}
        onChange={({ currentTarget: { value } }) => onView({ against: Number(value) || undefined })}
        size="xs"
        value={String(found.against)}
      />
      <NativeSelect
        aria-label={t`Number`}
        data={choices.map(({ key, title }) => ({ value: key, label: title }))}
        onChange={({ currentTarget: { value } }) => onView({ metric: value })}
        size="xs"
        value={chosen ?? ""}
      />
    </Group>
  );
}

function useNamedRows({ rows, by }: SidesComparison): NamedRow[] {
  const say = useDescriber(rows);
  return useMemo(() => {
    const places = placesOf(rows, by);
    const workloads = new Set(rows.map(({ workload }) => workload));
    const options = new Set(rows.map((row) => JSON.stringify(row.options)));
    return rows.map((row, at) => {
      const parts = [
        workloads.size > 1 && row.workload,
        options.size > workloads.size && say(row),
        places[at],
      ];
      return { row, name: parts.filter(Boolean).join(", ") || row.workload };
    });
  }, [rows, by, say]);
}

interface SidesFiguresProps {
  readonly rows: ReturnType<typeof rowsWith>;
  readonly names: readonly string[];
  readonly title: string;
  readonly exported: () => ExportTable;
}

function SidesFigures({ rows, names, title, exported }: SidesFiguresProps) {
  const scheme = useScheme();
  const runs = useMemo(() => sidesFigure(rows, names, scheme), [rows, names, scheme]);
  const shifts = useMemo(() => sidesShifts(rows, names), [rows, names]);
  const ratios = useMemo(() => shiftsFigure(shifts, scheme, t`Against the baseline (%)`), [shifts, scheme]);
  const hasRatio = shifts.some(({ ratio }) => ratio !== null);
  return (
    <Stack gap="xs">
      <div className="iotide-panels">
        <Plot figure={runs} height={380} label={t`${title}, runs of every side`} viewKey={title} />
        {hasRatio && (
          <Plot
            exported={{ table: exported }}
            figure={ratios}
            height={Math.max(380, shiftsHeight(shifts))}
            label={t`${title}, sides against the baseline`}
            viewKey={title}
          />
        )}
      </div>
      <Text c="dimmed" size="sm">
        <Trans>
          Each dot is a run, bars are at medians. Hollow and grey: fewer than four runs, or not run the same.
          Within the band a difference is below the practical threshold of 5 %.{" "}
          {rows.length > MOST_DRAWN_ROWS && t`Drawn are the first ${MOST_DRAWN_ROWS} rows of the table.`}
        </Trans>
      </Text>
    </Stack>
  );
}

function LeftOut({ found: { by, sides_left_out, rows_left_out } }: { found: SidesComparison }) {
  if (sides_left_out.length === 0 && rows_left_out === 0) return null;
  const sides = sides_left_out.map((value) => textOfPart(by ?? "", value)).join(", ");
  return (
    <Text c="dimmed" mt="xs" size="sm">
      {sides && t`Not shown, since no more sides can be told apart: ${sides}. `}
      {rows_left_out > 0 && t`${rows_left_out} more rows are not shown.`}
    </Text>
  );
}
