/** What a comparison says: its figure, then pair by pair what is unlike first and each number after it. */

import { t } from "@lingui/core/macro";
import { Trans } from "@lingui/react/macro";
import { Alert, NativeSelect, Stack, Text } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { useMemo } from "react";
import type { CampaignComparison, ComparedCell, ComparedPair } from "@/api/types";
import { ExportMenu } from "@/components/ExportMenu";
import { Loaded } from "@/components/Loaded";
import { useDescriber, useTitlesOf } from "@/components/optionTitles";
import { Section } from "@/components/Page";
import { useScheme } from "@/components/scheme";
import { UnmeasuredLoad } from "@/components/UnmeasuredLoad";
import { Plot } from "@/plots/Plot";
import { shiftsFigure, shiftsHeight } from "@/plots/shifts";
import { pairsTable } from "./exports";
import { drawnPairs, metricChoices, type NamedPair, runsFigure, shiftsOf } from "./figures";
import { PairSection } from "./PairSection";
import { type ComparedSides, comparisonQuery } from "./queries";
import type { RenderRepeats } from "./repeats";

interface ComparisonSectionsProps {
  readonly sides: ComparedSides;
  /** The number that is drawn. */
  readonly metric: string | undefined;
  readonly onMetric: (key: string) => void;
  readonly renderRepeats: RenderRepeats;
}

export function ComparisonSections({ sides, ...view }: ComparisonSectionsProps) {
  const comparison = useQuery(comparisonQuery(sides));
  return (
    <Loaded lines={8} query={comparison}>
      {(found) => (
        <>
          <UnmeasuredLoad campaignIds={[sides.a, sides.b]} />
          <Compared found={found} {...view} />
        </>
      )}
    </Loaded>
  );
}

interface ComparedProps extends Omit<ComparisonSectionsProps, "sides"> {
  readonly found: CampaignComparison;
}

function Compared({ found: { pairs, only_a, only_b }, metric, onMetric, renderRepeats }: ComparedProps) {
  const named = useNamed(pairs);
  const compared = pairs.reduce((sum, { metrics }) => sum + metrics.length, 0);
  return (
    <>
      <Alone cells={only_a} side="A" />
      <Alone cells={only_b} side="B" />
      {compared === 0 ? (
        <Text c="dimmed">{t`Neither side has a number yet that the other has too.`}</Text>
      ) : (
        <FigureSection metric={metric} named={named} onMetric={onMetric} />
      )}
      {named.map(({ name, pair }) => (
        <PairSection
          key={`${pair.a.cell_id} ${pair.b.cell_id}`}
          name={name}
          pair={pair}
          renderRepeats={renderRepeats}
        />
      ))}
    </>
  );
}

/** Each pair by its number in A, and by what tells its cells from the others. */
function useNamed(pairs: readonly ComparedPair[]): NamedPair[] {
  const cells = useMemo(() => pairs.map(({ a }) => a), [pairs]);
  const sayOf = useDescriber(cells);
  return useMemo(
    () => pairs.map((pair) => ({ name: nameOf(pair, toldOf(pair, pairs, sayOf)), pair })),
    [pairs, sayOf],
  );
}

/** What tells a cell from the others of its workload: options where they differ, else where it ran; nothing if alone. */
function toldOf(
  { a }: ComparedPair,
  pairs: readonly ComparedPair[],
  sayOf: (cell: ComparedCell) => string,
): string {
  const others = pairs.filter((other) => other.a.workload === a.workload);
  if (others.length === 1) return "";
  const options = new Set(others.map((other) => JSON.stringify(other.a.options)));
  return options.size > 1 ? sayOf(a) : t`${a.node_names.join("+")} on ${a.target_names.join("+")}`;
}

function nameOf({ a, b }: ComparedPair, told: string): string {
  const number = a.ordinal === b.ordinal ? a.ordinal : `${a.ordinal}/${b.ordinal}`;
  return `${number}: ${[a.workload, told].filter(Boolean).join(", ")}`;
}

function Alone({ side, cells }: { side: string; cells: readonly number[] }) {
  if (cells.length === 0) return null;
  return (
    <Alert color="orange" variant="light">
      <Trans>
        {cells.length === 1 ? t`Cell` : t`Cells`} {cells.join(", ")} of {side}{" "}
        {cells.length === 1 ? t`has` : t`have`} no clear counterpart. Name a cell of each above to compare
        them.
      </Trans>
    </Alert>
  );
}

interface FigureSectionProps {
  readonly named: readonly NamedPair[];
  readonly metric: string | undefined;
  readonly onMetric: (key: string) => void;
}

function FigureSection({ named, metric, onMetric }: FigureSectionProps) {
  const scheme = useScheme();
  const titleOf = useTitlesOf()(named[0]?.pair.a.workload ?? "");
  const choices = metricChoices(
    named.map(({ pair }) => pair),
    titleOf,
  );
  const chosen = choices.find(({ key }) => key === metric) ?? choices[0];
  const drawn = useMemo(() => drawnPairs(named, chosen?.key ?? ""), [named, chosen?.key]);
  const title = chosen?.title ?? "";
  const runs = useMemo(() => runsFigure(drawn, scheme), [drawn, scheme]);
  const shifts = useMemo(() => shiftsOf(drawn), [drawn]);
  const hasRatio = shifts.some(({ ratio }) => ratio !== null);
  const ratios = useMemo(() => shiftsFigure(shifts, scheme), [shifts, scheme]);
  return (
    <Section
      actions={
        <>
          <ExportMenu name={t`Comparison`} table={() => pairsTable(named.map(({ pair }) => pair))} />
          <NativeSelect
            aria-label={t`Number`}
            data={choices.map(({ key, title: label }) => ({ value: key, label }))}
            onChange={(event) => onMetric(event.currentTarget.value)}
            size="xs"
            value={chosen?.key ?? ""}
          />
        </>
      }
      title={t`Figure`}
    >
      <Stack gap="xs">
        <div className="iotide-panels">
          <Plot figure={runs} height={360} label={t`${title}, runs of A and B`} viewKey={title} />
          {hasRatio && (
            <Plot
              exported={{
                table: () =>
                  pairsTable(
                    named.map(({ pair }) => pair),
                    chosen?.key,
                  ),
              }}
              figure={ratios}
              height={Math.max(360, shiftsHeight(shifts))}
              label={t`${title}, B against A`}
              viewKey={title}
            />
          )}
        </div>
        <Text c="dimmed" size="sm">
          <Trans>
            Each dot is a run, bars are at medians.{" "}
            {hasRatio &&
              t`Beside them the ratio B / A of Hodges and Lehmann with its exact 95 % interval; hollow and grey of fewer than four runs or unlike cells. Within the band a difference is below the practical threshold of 5 %.`}
          </Trans>
        </Text>
      </Stack>
    </Section>
  );
}
