/** Results of a campaign: median and range by configuration, a table for each workload and metric. */

import { t } from "@lingui/core/macro";
import { Trans } from "@lingui/react/macro";
import { Alert, Badge, Stack, Text, Title } from "@mantine/core";
import { useInfiniteQuery } from "@tanstack/react-query";
import type { Campaign, Cell, CellResult } from "@/api/types";
import { flagTitle, rankOf, remedyOf } from "@/components/flagWords";
import { TextLink } from "@/components/links";
import { Detail, RowButton } from "@/components/looks";
import { MeasuredValue } from "@/components/MeasuredValue";
import { useTitlesOf } from "@/components/optionTitles";
import { Loaded, ShowMore } from "@/components/Page";
import { Place } from "@/components/Place";
import { Row, ScrollTable } from "@/components/ScrollTable";
import { useMayRun } from "@/components/session";
import { Datum, Quantity } from "@/components/values";
import { spread } from "@/lib/exported";
import { formatValue } from "@/lib/units";
import { describeCounts, isOpen } from "./CampaignProgress";
import { cellsQuery } from "./queries";
import {
  commonCautions,
  commonFlags,
  commonNotes,
  ENOUGH_RUNS,
  groupResults,
  type PlanNote,
  planNotes,
  type ResultGroup,
  type ResultRow,
} from "./results";

const HEAD = [t`Configuration`, t`Median`, t`Runs`, t`Min`, t`Max`, t`Node and target`, ""];

/** Flag of values whose runs scatter. */
const SCATTERS = "CV";

interface ResultsTableProps {
  readonly campaign: Campaign;
  /** Opens the form to add repeats; undefined hides its button. */
  readonly onRepeats?: (cellId: number) => void;
}

export function ResultsTable({ campaign, onRepeats }: ResultsTableProps) {
  const mayAdd = useMayRun(campaign.cluster_id);
  const asking = mayAdd ? onRepeats : undefined;
  const cells = useInfiniteQuery(cellsQuery(campaign.id));
  const titlesOf = useTitlesOf();
  return (
    <Loaded
      empty={<NoResult campaign={campaign} />}
      // Cells of a later page may have results, so keep the button that loads more.
      isEmpty={(rows) => !cells.hasNextPage && rows.every(({ results }) => results.length === 0)}
      query={cells}
    >
      {(rows) => (
        <Stack>
          <CommonCautions rows={rows} />
          <PlanNotes rows={rows} />
          {groupResults(rows, titlesOf).map((group) => (
            <GroupTable
              clusterId={campaign.cluster_id}
              group={group}
              key={group.key}
              onRepeats={asking}
              shownElsewhere={[...commonCautions(rows), ...commonNotes(rows)]}
            />
          ))}
          <Detail>
            <Trans>
              {rows.filter(({ results }) => results.length > 0).length} of {rows.length} configurations have
              results. Rejected runs do not count.
            </Trans>
          </Detail>
          <ShowMore query={cells} />
        </Stack>
      )}
    </Loaded>
  );
}

function CommonCautions({ rows }: { rows: readonly Cell[] }) {
  const [cautions, notes] = [commonCautions(rows), commonNotes(rows)];
  const common = [...cautions, ...notes];
  if (common.length === 0) return null;
  return (
    <Alert color={cautions.length > 0 ? "orange" : "gray"} title={t`All values below: ${common.join(", ")}`}>
      {commonFlags(rows)
        .filter((code) => rankOf(code) <= 3)
        .map(remedyOf)
        .join(" ")}
    </Alert>
  );
}

/** Flags about the plan itself, once for all runs. */
function PlanNotes({ rows }: { rows: readonly Cell[] }) {
  const measured = rows.filter(({ results }) => results.length > 0).length;
  const notes = planNotes(rows);
  if (notes.length === 0) return null;
  return (
    <Alert color="gray" title={t`This plan could measure more`}>
      {notes.map((note) => (
        <div key={note.code}>
          <Trans>
            {flagTitle(note.code)}: {note.cellCount} of {measured} configurations{spreadWords(note)}.{" "}
            {remedyOf(note.code)}
          </Trans>
        </div>
      ))}
    </Alert>
  );
}

/** Empty for a flag that is not about the spread. */
function spreadWords({ code, spread }: PlanNote): string {
  if (code !== SCATTERS || spread === null) return "";
  const [least, most] = [formatValue(spread[0], "ratio"), formatValue(spread[1], "ratio")];
  return least === most ? t`, by ${least}` : t`, by ${least} to ${most}`;
}

function NoResult({ campaign }: { campaign: Campaign }) {
  const { id, counts } = campaign;
  if (isOpen(campaign))
    return <Text c="dimmed">{t`No results yet. The first row appears when the first run finishes.`}</Text>;
  return (
    <Text c="dimmed">
      <Trans>
        The campaign ended without results: {describeCounts(counts)}.{" "}
        {counts.finished > 0 && t`Rejected runs do not count. `}
        {counts.failed > 0 && (
          <TextLink
            params={{ campaignId: id }}
            search={{ tab: "runs", state: "failed" }}
            to="/campaigns/$campaignId"
            underline="always"
          >{t`Show failed runs`}</TextLink>
        )}
      </Trans>
    </Text>
  );
}

interface GroupTableProps {
  readonly group: ResultGroup;
  readonly clusterId: number;
  readonly onRepeats: ((cellId: number) => void) | undefined;
  /** Cautions already shown above all tables. */
  readonly shownElsewhere: readonly string[];
}

function GroupTable({ group, clusterId, onRepeats, shownElsewhere }: GroupTableProps) {
  const title = `${group.workload}: ${group.title}`;
  return (
    <div>
      <Title order={3} size="h5">
        {title}
      </Title>
      <ScrollTable head={HEAD} label={title}>
        {group.rows.map((row) => (
          <MeasuredRow
            clusterId={clusterId}
            key={`${row.cell.id} ${row.result.series_id}`}
            onRepeats={onRepeats}
            row={row}
            shownElsewhere={shownElsewhere}
          />
        ))}
      </ScrollTable>
    </div>
  );
}

interface RowProps extends Pick<GroupTableProps, "clusterId" | "onRepeats" | "shownElsewhere"> {
  readonly row: ResultRow;
}

function MeasuredRow({ row, clusterId, onRepeats, shownElsewhere }: RowProps) {
  const { cell, result, what } = row;
  const { unit, n } = result;
  const adaptive = cell.adaptive?.series_id === result.series_id ? cell.adaptive : null;
  return (
    <Row>
      <td className="iotide-name">
        <Text
          data-export={JSON.stringify({
            ...spread("option_", cell.options),
            ...spread("label_", result.labels),
          })}
          lineClamp={3}
          size="sm"
          title={what}
        >
          {what}
        </Text>
      </td>
      <MeasuredValue
        flags={result.flags}
        shownElsewhere={shownElsewhere}
        unit={unit}
        usual={result.usual_flags}
        value={result.median}
      />
      <td className={adaptive ? "iotide-wrap" : undefined}>
        <Datum value={n}>
          <RunCount result={result} />
        </Datum>
        {adaptive && <Detail>{adaptive.words}</Detail>}
        {onRepeats && n < ENOUGH_RUNS && (
          <RowButton
            aria-label={t`Add repeats of ${what}`}
            ml={6}
            onClick={() => onRepeats(cell.id)}
          >{t`Add`}</RowButton>
        )}
      </td>
      {n > 1 && <Quantity unit={unit} value={result.low} />}
      {n > 1 && <Quantity unit={unit} value={result.high} />}
      <td className="iotide-name">
        <Place of={cell} />
      </td>
      <TextLink
        params={{ clusterId }}
        search={{
          workload: cell.workload,
          metric: result.metric,
          series: [result.series_id],
          cell: cell.id,
        }}
        to="/clusters/$clusterId/trend"
      >{t`Trend`}</TextLink>
    </Row>
  );
}

/** Number of runs behind a median, marked if they are few or vary too much. */
function RunCount({ result }: { result: CellResult }) {
  const { n, tier, variation, variation_ratio: ratio, robust_spread_ratio: robust } = result;
  if (tier === "one_run") return <CountBadge text={t`1 run`} title={t`one run does not show the spread`} />;
  if (tier === "few_runs")
    return <CountBadge text={t`${n} runs`} title={t`no interval with fewer than four runs`} />;
  if (variation === null || variation === "steady") return n;
  const robustly = robust === null ? "" : t`; from median deviations ${formatValue(robust, "ratio")}`;
  const title = ratio === null ? "" : t`coefficient of variation ${formatValue(ratio, "ratio")}${robustly}`;
  return <CountBadge text={`${n}, ${variation === "flagged" ? "uneven" : variation}`} title={title} />;
}

function CountBadge({ text, title }: { text: string; title: string }) {
  return (
    <Badge color="orange" miw="max-content" title={title}>
      {text}
    </Badge>
  );
}
