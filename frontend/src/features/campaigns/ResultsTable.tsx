/** Results of a campaign as they come: median and range of each cell's runs, a table for each workload and metric. */

import { t } from "@lingui/core/macro";
import { Trans } from "@lingui/react/macro";
import { Alert, Badge, Stack, Text, Title } from "@mantine/core";
import { useInfiniteQuery } from "@tanstack/react-query";
import type { Campaign, Cell, CellResult } from "@/api/types";
import { remedyOf } from "@/components/flagWords";
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
  ENOUGH_RUNS,
  groupResults,
  type ResultGroup,
  type ResultRow,
} from "./results";

const HEAD = [t`Of`, t`Median`, t`Runs`, t`Min`, t`Max`, t`Node and target`, ""];

interface ResultsTableProps {
  readonly campaign: Campaign;
  /** Asks for more runs of a cell; nothing where nobody may. */
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
      // Cells of a later page may have results: they are asked for below the empty tables.
      isEmpty={(rows) => !cells.hasNextPage && rows.every(({ results }) => results.length === 0)}
      query={cells}
    >
      {(rows) => (
        <Stack>
          <CommonCautions rows={rows} />
          {groupResults(rows, titlesOf).map((group) => (
            <GroupTable
              clusterId={campaign.cluster_id}
              group={group}
              key={group.key}
              onRepeats={asking}
              said={commonCautions(rows)}
            />
          ))}
          <Detail>
            <Trans>
              {rows.filter(({ results }) => results.length > 0).length} of {rows.length} cells have results.
              Rejected runs do not count.
            </Trans>
          </Detail>
          <ShowMore query={cells} />
        </Stack>
      )}
    </Loaded>
  );
}

/** What holds for every number of the campaign, said once. */
function CommonCautions({ rows }: { rows: readonly Cell[] }) {
  const common = commonCautions(rows);
  if (common.length === 0) return null;
  return (
    <Alert color="orange" title={t`All numbers below: ${common.join(", ")}`}>
      {commonFlags(rows)
        .flatMap((code) => remedyOf(code) ?? [])
        .join(" ")}
    </Alert>
  );
}

/** Why there is no number: not yet, or never. */
function NoResult({ campaign }: { campaign: Campaign }) {
  const { id, counts } = campaign;
  if (isOpen(campaign))
    return <Text c="dimmed">{t`No result yet: the first row appears when the first run has finished.`}</Text>;
  return (
    <Text c="dimmed">
      <Trans>
        The campaign ended without a result: {describeCounts(counts)}.{" "}
        {counts.finished > 0 && t`Rejected runs do not count. `}
        {counts.failed > 0 && (
          <TextLink
            params={{ campaignId: id }}
            search={{ tab: "runs", state: "failed" }}
            to="/campaigns/$campaignId"
            underline="always"
          >{t`See why the runs failed`}</TextLink>
        )}
      </Trans>
    </Text>
  );
}

interface GroupTableProps {
  readonly group: ResultGroup;
  readonly clusterId: number;
  readonly onRepeats: ((cellId: number) => void) | undefined;
  /** Cautions that stand above all tables. */
  readonly said: readonly string[];
}

function GroupTable({ group, clusterId, onRepeats, said }: GroupTableProps) {
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
            said={said}
          />
        ))}
      </ScrollTable>
    </div>
  );
}

interface RowProps extends Pick<GroupTableProps, "clusterId" | "onRepeats" | "said"> {
  readonly row: ResultRow;
}

function MeasuredRow({ row, clusterId, onRepeats, said }: RowProps) {
  const { cell, result, what } = row;
  const { unit, n } = result;
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
      <MeasuredValue flags={result.flags} said={said} unit={unit} value={result.median} />
      <td>
        <Datum value={n}>
          <RunCount result={result} />
        </Datum>
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

/** How many runs stand behind a median: few say nothing of spread, and several may scatter too far. */
function RunCount({ result }: { result: CellResult }) {
  const { n, tier, variation, variation_ratio: ratio, robust_spread_ratio: robust } = result;
  if (tier === "one_run") return <CountBadge text={t`1 run`} title={t`one run says nothing of the spread`} />;
  if (tier === "few_runs")
    return <CountBadge text={t`${n} runs`} title={t`below four runs there is no interval`} />;
  if (variation === null || variation === "steady") return n;
  const robustly = robust === null ? "" : t`; by median deviations ${formatValue(robust, "ratio")}`;
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
