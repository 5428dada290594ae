/** Comparison of two campaigns or of several sides. */

import { t } from "@lingui/core/macro";
import { Trans } from "@lingui/react/macro";
import { Alert, Text } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { type ReactNode, useMemo } from "react";
import type { CampaignComparison, SidesComparison } from "@/api/types";
import { ExportMenu } from "@/components/ExportMenu";
import { TextLink } from "@/components/links";
import { useTitlesOf } from "@/components/optionTitles";
import { Loaded } from "@/components/Page";
import { UnmeasuredLoad } from "@/components/UnmeasuredLoad";
import { Choice, ComparedSection, isUnlike } from "./ComparedSection";
import {
  type Cell,
  type ChosenNumber,
  type Compared,
  chooseNumber,
  PAIR,
  type Row,
  textOfPart,
  titleOfDimension,
  titleOfMetric,
} from "./compared";
import { comparedTable } from "./exports";
import { NumbersTable, type RenderRepeats } from "./NumbersTable";
import { useNamedPairs, useNamedSides } from "./named";
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
          <UnmeasuredLoad campaignIds={[sides.a, sides.b]} />
          <Pairs found={found} {...view} />
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
          <UnmeasuredLoad campaignIds={many.campaigns} />
          <Sides found={found} {...view} />
        </>
      )}
    </Loaded>
  );
}

function Pairs({ found, renderRepeats, ...view }: ViewProps & { readonly found: CampaignComparison }) {
  const compared = useNamedPairs(found.pairs);
  const number = useNumber(compared, view.metric);
  return (
    <>
      <Alone cells={found.only_a} side="A" />
      <Alone cells={found.only_b} side="B" />
      <OneDayNotice compared={compared} />
      {number.rows.length > 0 ? (
        <FigureSection {...view} compared={compared} number={number} />
      ) : (
        <Text c="dimmed">{t`The two sides have no common metric yet.`}</Text>
      )}
      {compared.rows.map((row) => (
        <PairSection key={row.name} renderRepeats={renderRepeats} row={row} />
      ))}
    </>
  );
}

function Sides({ found, renderRepeats, ...view }: ViewProps & { readonly found: SidesComparison }) {
  const compared = useNamedSides(found);
  const number = useNumber(compared, view.metric);
  const hasUnlike = compared.rows.some(isUnlike);
  const differences = compared.rows.some((row) => row.differences.length > 0) && (
    <ComparedSection title={t`Differences`} unlike={compared} />
  );
  return (
    <>
      {hasUnlike && differences}
      <OneDayNotice compared={compared} />
      <FigureSection {...view} compared={compared} number={number}>
        <SideChoices found={found} names={compared.names} onView={view.onView} />
      </FigureSection>
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
      {!hasUnlike && differences}
    </>
  );
}

function useNumber(compared: Compared, metric = ""): ChosenNumber {
  const titleOf = useTitlesOf()(compared.rows[0]?.workload ?? "");
  return useMemo(() => chooseNumber(compared, metric, titleOf), [compared, metric, titleOf]);
}

interface FigureSectionProps extends Pick<ViewProps, "onView"> {
  readonly compared: Compared;
  readonly number: ChosenNumber;
  /** Additional controls. */
  readonly children?: ReactNode;
}

function FigureSection({ compared, number, onView, children }: FigureSectionProps) {
  const { key, title, titles, rows, drawn } = number;
  return (
    <ComparedSection
      actions={
        <>
          <ExportMenu name={t`Comparison`} table={() => comparedTable(compared)} />
          {children}
          <Choice choices={titles} label={t`Metric`} onChoose={(metric) => onView({ metric })} value={key} />
        </>
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

function PairSection({ row, renderRepeats }: Pick<ViewProps, "renderRepeats"> & { readonly row: Row }) {
  const { name, workload, cells, metrics } = row;
  const titleOf = useTitlesOf()(workload);
  const compared = { names: PAIR, against: 0, rows: [row] };
  const [a, b] = cells.map((cell, place) => {
    const runs = Math.min(...metrics.map(({ numbers }) => numbers[place]?.n ?? Number.NaN));
    return (
      cell && [<NamedCell cell={cell} key="cell" side={PAIR[place] ?? ""} />, " ", renderRepeats(cell, runs)]
    );
  });
  return (
    <ComparedSection
      description={
        <Trans>
          {a} compared with {b}
        </Trans>
      }
      sentence={metrics.length === 0 && t`These configurations have no common metric.`}
      table={
        metrics.length > 0 && (
          <NumbersTable
            compared={compared}
            exported={() => comparedTable(compared)}
            head={t`Metric`}
            label={t`Metrics of ${name}`}
            rows={metrics.map((metric) => ({ ...row, name: titleOfMetric(metric, titleOf), metric }))}
          />
        )
      }
      title={name}
      unlike={compared}
    />
  );
}

function NamedCell({ cell, side }: { readonly cell: Cell; readonly side: string }) {
  return (
    <Trans>
      {side}:{" "}
      <TextLink params={{ campaignId: cell.campaign_id }} to="/campaigns/$campaignId" underline="always">
        campaign {cell.campaign_id}, configuration {cell.ordinal}
      </TextLink>{" "}
      ({cell.node_names.join(", ")} on {cell.target_names.join(", ") || t`no target`})
    </Trans>
  );
}

function Alone({ side, cells }: { readonly side: string; readonly cells: readonly number[] }) {
  if (cells.length === 0) return null;
  return (
    <Alert color="orange">
      <Trans>
        {cells.length === 1 ? t`Configuration` : t`Configurations`} {cells.join(", ")} of {side}{" "}
        {cells.length === 1 ? t`has` : t`have`} no clear counterpart. To compare them, select a configuration
        of each side above.
      </Trans>
    </Alert>
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
