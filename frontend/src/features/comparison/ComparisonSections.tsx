/** Comparison of two campaigns or of several sides: all primary metrics first, then runs and values, folded. */

import { t } from "@lingui/core/macro";
import { Trans } from "@lingui/react/macro";
import { Alert, Stack, Text } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { type ReactNode, useMemo } from "react";
import type { CampaignComparison, SidesComparison } from "@/api/types";
import { CsvButton } from "@/components/export/CsvButton";
import { Fold } from "@/components/Fold";
import { useTitlesOf } from "@/components/optionTitles";
import { Loaded, Section } from "@/components/Page";
import { UnmeasuredLoad } from "@/components/UnmeasuredLoad";
import { Choice, ComparedSection, isUnlike } from "./ComparedSection";
import { type ChosenNumber, type Compared, chooseNumber, textOfPart, titleOfDimension } from "./compared";
import { comparedTable } from "./exports";
import { ForestTable } from "./ForestTable";
import { NumbersTable, type RenderRepeats } from "./NumbersTable";
import { useNamedPairs, useNamedSides } from "./named";
import { Alone, PairSection } from "./PairSection";
import { type ComparedMany, type ComparedSides, comparisonQuery, sidesQuery } from "./queries";

/** Address parameters; `metric` is the metric that is drawn. */
type ComparisonView = Partial<Pick<ComparedMany, "by" | "against"> & { readonly metric: string }>;

interface ViewProps {
  readonly metric: string | undefined;
  readonly onView: (change: ComparisonView) => void;
  readonly renderRepeats: RenderRepeats;
}

export function PairSections({ sides, ...view }: ViewProps & { readonly sides: ComparedSides }) {
  return (
    <Loaded lines={8} query={useQuery(comparisonQuery(sides))}>
      {(found) => (
        <>
          <Pairs found={found} {...view} />
          <UnmeasuredLoad campaignIds={[sides.a, sides.b]} />
        </>
      )}
    </Loaded>
  );
}

export function SidesSections({ many, ...view }: ViewProps & { readonly many: ComparedMany }) {
  return (
    <Loaded
      empty={t`Nothing to compare: no difference between these configurations was measured on both sides. Choose a campaign over several targets, nodes or options, or add a second campaign.`}
      isEmpty={({ rows }) => rows.every(({ metrics }) => metrics.length === 0)}
      lines={8}
      query={useQuery(sidesQuery(many))}
    >
      {(found) => (
        <>
          <Sides found={found} {...view} />
          <UnmeasuredLoad campaignIds={many.campaigns} />
        </>
      )}
    </Loaded>
  );
}

function Pairs({ found, renderRepeats, ...view }: ViewProps & { readonly found: CampaignComparison }) {
  const compared = useNamedPairs(found.pairs);
  const number = useNumber(compared, view.metric);
  if (number.rows.length === 0) return <Text c="dimmed">{t`The two sides have no common metric yet.`}</Text>;
  return (
    <>
      <Answer compared={compared} />
      <Alone cells={found.only_a} side="A" />
      <Alone cells={found.only_b} side="B" />
      <Values isOpenAtFirst={view.metric !== undefined}>
        <FigureSection {...view} compared={compared} number={number} />
        {compared.rows.map((row) => (
          <PairSection key={row.name} renderRepeats={renderRepeats} row={row} />
        ))}
      </Values>
    </>
  );
}

function Sides({ found, renderRepeats, ...view }: ViewProps & { readonly found: SidesComparison }) {
  const compared = useNamedSides(found);
  const number = useNumber(compared, view.metric);
  const hasDifferences = compared.rows.some((row) => row.differences.length > 0);
  return (
    <>
      <Answer compared={compared}>
        <SideChoices found={found} names={compared.names} onView={view.onView} />
      </Answer>
      {hasDifferences && <ComparedSection title={t`Differences`} unlike={compared} />}
      <Values isOpenAtFirst={view.metric !== undefined}>
        <FigureSection {...view} compared={compared} number={number} />
        <ComparedSection
          description={t`Ratio to the baseline with its 95 % confidence interval. Verdicts are corrected for the number of primary metrics. With fewer than 4 runs only the ratio of medians is shown (grey).`}
          sentence={leftOut(found)}
          table={
            <NumbersTable
              compared={compared}
              exported={() => comparedTable(compared, number.key)}
              head=""
              label={t`Verdicts`}
              renderRepeats={renderRepeats}
              rows={number.rows}
            />
          }
          title={t`Verdicts`}
        />
      </Values>
    </>
  );
}

/** The forest plot of all primary metrics, and what to keep in mind when reading it. */
function Answer({ compared, children }: { readonly compared: Compared; readonly children?: ReactNode }) {
  const exported = () => comparedTable(compared);
  return (
    <>
      <Section
        actions={
          <>
            {children}
            <CsvButton name={t`Comparison of campaigns ${campaignsOf(compared)}`} table={exported} />
          </>
        }
        title={t`All primary metrics`}
      >
        <ForestTable compared={compared} exported={exported} />
      </Section>
      {compared.rows.some(isUnlike) && (
        <Alert color="orange">
          {t`Some of these configurations differ. Their ratios may not be meaningful and are grey.`}
        </Alert>
      )}
      <OneDayNotice compared={compared} />
      <OneMakeNotice compared={compared} />
    </>
  );
}

function campaignsOf({ rows }: Compared): string {
  const ids = rows.flatMap(({ cells }) => cells.flatMap((cell) => cell?.campaign_id ?? []));
  return [...new Set(ids)].sort((a, b) => a - b).join(", ");
}

interface ValuesProps {
  readonly isOpenAtFirst: boolean;
  readonly children: ReactNode;
}

function Values({ isOpenAtFirst, children }: ValuesProps) {
  return (
    <Fold
      isOpenAtFirst={isOpenAtFirst}
      summary={t`each run, medians and p of every metric`}
      title={t`All values`}
    >
      <Stack>{children}</Stack>
    </Fold>
  );
}

function useNumber(compared: Compared, metric = ""): ChosenNumber {
  const titleOf = useTitlesOf()(compared.rows[0]?.workload ?? "");
  return useMemo(() => chooseNumber(compared, metric, titleOf), [compared, metric, titleOf]);
}

interface FigureSectionProps extends Pick<ViewProps, "onView"> {
  readonly compared: Compared;
  readonly number: ChosenNumber;
}

function FigureSection({ compared, number, onView }: FigureSectionProps) {
  const { key, title, titles, rows, drawn } = number;
  return (
    <ComparedSection
      actions={
        <Choice choices={titles} label={t`Metric`} onChoose={(metric) => onView({ metric })} value={key} />
      }
      figure={{ compared, number }}
      sentence={
        <Trans>
          Each point is a run, hollow with a caution; bars mark medians. Lines are 95 % confidence intervals
          of the ratios. Grey ratios: fewer than 4 runs, one day each, or a different setup. Differences
          inside the band are below the practical threshold of 5 %.{" "}
          {rows.length > drawn.length && t`Only the first ${drawn.length} rows are drawn.`}
        </Trans>
      }
      title={title}
    />
  );
}

/** Once for all numbers. Numbers of fewer than four runs lack a verdict for that reason. */
function OneDayNotice({ compared: { rows } }: { readonly compared: Compared }) {
  const verdicts = rows.flatMap(({ metrics }) => metrics.flatMap((metric) => metric.verdicts));
  if (!verdicts.some((one) => one?.basis === "one_day" && one.ratio !== null)) return null;
  return (
    <Alert color="orange">
      {t`Some numbers were measured on one day each. The day may be the cause of a difference, so they get no verdict. Repeat the campaigns on other days, or spread the repeats over days.`}
    </Alert>
  );
}

/** Once for all numbers: their intervals do not cover the luck of a make. */
function OneMakeNotice({ compared: { rows } }: { readonly compared: Compared }) {
  const verdicts = rows.flatMap(({ metrics }) => metrics.flatMap((metric) => metric.verdicts));
  if (!verdicts.some((one) => one?.basis === "one_make")) return null;
  return (
    <Alert color="orange">
      {t`One make each: some file systems were made once. The make may be the cause of a difference. Use more rounds in the plan.`}
    </Alert>
  );
}

interface SideChoicesProps extends Pick<ViewProps, "onView">, Pick<Compared, "names"> {
  readonly found: SidesComparison;
}

function SideChoices({ found, names, onView }: SideChoicesProps) {
  const titleOf = useTitlesOf()(found.rows[0]?.workload ?? "");
  return (
    <>
      {found.by !== "cell" && (
        <Choice
          choices={found.dimensions.map((by) => [by, t`By ${titleOfDimension(by, titleOf).toLowerCase()}`])}
          label={t`Compare by`}
          onChoose={(by) => onView({ by, against: undefined })}
          value={found.by ?? ""}
        />
      )}
      <Choice
        choices={names.map((name, place) => [String(place), t`Relative to ${name}`])}
        label={t`Baseline`}
        onChoose={(place) => onView({ against: Number(place) || undefined })}
        value={String(found.against)}
      />
    </>
  );
}

function leftOut({ by, sides_left_out, rows_left_out }: SidesComparison): string {
  const sides = sides_left_out.map((value) => textOfPart(by ?? "", value)).join(", ");
  const more = rows_left_out > 0 ? t`${rows_left_out} more rows are not shown.` : "";
  return sides ? t`Not shown because the figure has no more distinct colours: ${sides}. ` + more : more;
}
