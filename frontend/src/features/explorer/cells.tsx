import { t } from "@lingui/core/macro";
import { Badge, Text } from "@mantine/core";
import type { ReactNode } from "react";
import type { Sparkline as Course, ExplorerRun } from "@/api/types";
import { StateBadge } from "@/components/badges";
import { cautionsOf, flagTitle, missingFlags, notesOf, remarksOf } from "@/components/flagWords";
import { HeadlineValue } from "@/components/HeadlineValue";
import { TextLink } from "@/components/links";
import { MissingFlags, NoteCount, UsualFlags } from "@/components/MeasuredValue";
import { RowOriginBadge } from "@/components/Origin";
import { useTitlesOf } from "@/components/optionTitles";
import { Seconds, When } from "@/components/values";
import { describeValues, type TitleOf, type TitlesOf } from "@/lib/options";
import { formatShift } from "@/lib/units";
import { Sparkline } from "./Sparkline";
import { type ColumnId, ratioOf } from "./view";

export interface CellContext {
  readonly baseline: ExplorerRun | undefined;
  readonly courses: ReadonlyMap<number, Course>;
  readonly columns: readonly ColumnId[];
  readonly titlesOf: TitlesOf;
}

const NONE: readonly string[] = [];

type Show = (run: ExplorerRun, context: CellContext) => ReactNode;

const CELLS: Readonly<Record<ColumnId, Show>> = {
  state: ({ state, validity }) => (
    <StateBadge state={state === "finished" && validity === "rejected" ? "rejected" : state} />
  ),
  // With the flags column shown, leave the cautions to it, so that the value has room for its name.
  value: (run, { columns }) => (
    <HeadlineValue
      flags={run.flags}
      headline={run.headline}
      rejecting={rejectingOf(run)}
      shownElsewhere={
        columns.includes("flags") ? [...cautionsOf(run.flags, rejectingOf(run)), ...notesOf(run.flags)] : NONE
      }
    />
  ),
  metric: (run, { titlesOf }) => <Measured run={run} titleOf={titlesOf(run.workload, run.cluster_id)} />,
  ratio: (run, { baseline }) => <Ratio baseline={baseline} run={run} />,
  course: ({ headline, cell_id }, { courses }) =>
    headline && <Sparkline cellId={cell_id} course={courses.get(headline.series_id)} />,
  at: ({ at }) => <When at={at} />,
  duration: ({ duration_seconds: seconds }) => seconds !== null && <Seconds value={seconds} />,
  workload: ({ workload }) => workload,
  options: ({ workload, options, cluster_id }, { titlesOf }) =>
    describeValues(options, titlesOf(workload, cluster_id)),
  target: ({ target_names, variant }) => [target_names.join(", "), variant].filter(Boolean).join(" · "),
  node: ({ node_names }) => node_names.join(", "),
  cluster: ({ cluster_id, cluster_name }) => (
    <>
      {cluster_name} <RowOriginBadge clusterId={cluster_id} />
    </>
  ),
  campaign: ({ campaign_id, campaign_name }) => (
    <TextLink params={{ campaignId: campaign_id }} to="/campaigns/$campaignId">
      {campaign_name} · {campaign_id}
    </TextLink>
  ),
  cell: ({ cell_ordinal, repeat }) => `${cell_ordinal}, ${repeat}`,
  flags: (run) => <Flags codes={run.flags} rejecting={rejectingOf(run)} usual={run.usual_flags} />,
};

export function useCellContext(
  baseline: ExplorerRun | undefined,
  courses: CellContext["courses"],
  columns: readonly ColumnId[],
): CellContext {
  return { baseline, courses, columns, titlesOf: useTitlesOf() };
}

export function RunCells({ run, context }: { run: ExplorerRun; context: CellContext }) {
  return context.columns.map((id) => {
    const shown = CELLS[id](run, context);
    return (
      <td data-column={id} key={id} title={typeof shown === "string" ? shown : undefined}>
        {shown}
      </td>
    );
  });
}

function Measured({
  run: { headline, workload, cluster_id },
  titleOf,
}: {
  run: ExplorerRun;
  titleOf: TitleOf;
}) {
  if (!headline) return null;
  const { metric, series_id, title, labels } = headline;
  return (
    <TextLink
      params={{ clusterId: cluster_id }}
      search={{ workload, metric, series: [series_id] }}
      to="/clusters/$clusterId/trend"
    >
      {[title, describeValues(labels, titleOf)].filter(Boolean).join(", ")}
    </TextLink>
  );
}

/** Grey, since two single runs allow no verdict. */
function Ratio({ run, baseline }: { run: ExplorerRun; baseline: ExplorerRun | undefined }) {
  if (!baseline) return null;
  if (run.id === baseline.id) return <Text inherit>{t`baseline`}</Text>;
  const ratio = ratioOf(run, baseline);
  if (ratio === undefined)
    return (
      <Text
        c="dimmed"
        inherit
        title={t`No ratio: the options or metrics differ, or a value is missing.`}
      >{t`not comparable`}</Text>
    );
  return (
    <Text c="dimmed" className="iotide-number" inherit title={t`Single runs: no verdict.`}>
      {formatShift(ratio)}
    </Text>
  );
}

/** The table has codes only; those of a rejected run may all reject it. */
function rejectingOf({ validity, flags }: Pick<ExplorerRun, "validity" | "flags">): readonly string[] {
  return validity === "rejected" ? flags : NONE;
}

interface FlagsProps {
  readonly codes: readonly string[];
  readonly rejecting: readonly string[];
  readonly usual: readonly string[];
}

function Flags({ codes, rejecting, usual }: FlagsProps) {
  const remarks = remarksOf(codes, usual, rejecting);
  return (
    <span data-export={JSON.stringify({ value: codes.join(" ") })}>
      {remarks.named.map((code) => (
        <Badge color="orange" key={code} me={4} miw="max-content">
          {flagTitle(code)}
        </Badge>
      ))}
      <UsualFlags words={remarks.usual} />
      <MissingFlags codes={missingFlags(codes, usual)} />
      <NoteCount words={remarks.notes} />
    </span>
  );
}
