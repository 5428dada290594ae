/** Results of a campaign as they come: median and range of each cell's runs, a table for each workload and metric. */

import { Badge, Stack, Text, Title } from "@mantine/core";
import { useInfiniteQuery } from "@tanstack/react-query";
import type { Campaign, CellResult } from "@/api/types";
import { Loaded } from "@/components/Loaded";
import { TextLink } from "@/components/links";
import { useTitlesOf } from "@/components/optionTitles";
import { Place } from "@/components/Place";
import { Quantity } from "@/components/Quantity";
import { ScrollTable } from "@/components/ScrollTable";
import { ShowMore } from "@/components/ShowMore";
import { formatValue, type Scale } from "@/lib/units";
import { describeCounts, isOpen } from "./CampaignProgress";
import { cellsQuery } from "./queries";
import { groupResults, type ResultGroup, type ResultRow } from "./results";

const HEAD = ["Of", "Median", "Runs", "Min", "Max", "Node and target", ""];

export function ResultsTable({ campaign }: { campaign: Campaign }) {
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
          {groupResults(rows, titlesOf).map((group) => (
            <GroupTable clusterId={campaign.cluster_id} group={group} key={group.key} />
          ))}
          <Text c="dimmed" size="xs">
            {rows.filter(({ results }) => results.length > 0).length} of {rows.length} cells have results.
            Rejected runs do not count.
          </Text>
          <ShowMore query={cells} />
        </Stack>
      )}
    </Loaded>
  );
}

/** Why there is no number: not yet, or never. */
function NoResult({ campaign }: { campaign: Campaign }) {
  const { id, counts } = campaign;
  if (isOpen(campaign))
    return <Text c="dimmed">No result yet: the first row appears when the first run has finished.</Text>;
  return (
    <Text c="dimmed">
      The campaign ended without a result: {describeCounts(counts)}.{" "}
      {counts.finished > 0 && "Rejected runs do not count. "}
      {counts.failed > 0 && (
        <TextLink
          params={{ campaignId: id }}
          search={{ tab: "runs", state: "failed" }}
          to="/campaigns/$campaignId"
          underline="always"
        >
          See why the runs failed
        </TextLink>
      )}
    </Text>
  );
}

function GroupTable({ group, clusterId }: { group: ResultGroup; clusterId: number }) {
  const title = `${group.workload}: ${group.title}`;
  return (
    <div>
      <Title order={3} size="h5">
        {title}
      </Title>
      <ScrollTable head={HEAD} label={title}>
        {group.rows.map((row) => (
          <Row
            clusterId={clusterId}
            key={`${row.cell.id} ${row.result.series_id}`}
            row={row}
            scale={group.scale}
          />
        ))}
      </ScrollTable>
    </div>
  );
}

function Row({ row, scale, clusterId }: { row: ResultRow; scale: Scale; clusterId: number }) {
  const { cell, result, what } = row;
  const { unit, n } = result;
  return (
    <tr>
      <td className="iotide-name">
        <Text lineClamp={3} size="sm" title={what}>
          {what}
        </Text>
      </td>
      <td className="iotide-strong">
        <Quantity scale={scale} unit={unit} value={result.median} />
      </td>
      <td>
        <RunCount result={result} />
      </td>
      <td>{n > 1 && <Quantity scale={scale} unit={unit} value={result.low} />}</td>
      <td>{n > 1 && <Quantity scale={scale} unit={unit} value={result.high} />}</td>
      <td className="iotide-name">
        <Place of={cell} />
      </td>
      <td>
        <TextLink
          params={{ clusterId }}
          search={{
            workload: cell.workload,
            metric: result.metric,
            series: [result.series_id],
            cell: cell.id,
          }}
          to="/clusters/$clusterId/trend"
        >
          Trend
        </TextLink>
      </td>
    </tr>
  );
}

/** How many runs stand behind a median: few say nothing of spread, and several may scatter too far. */
function RunCount({ result }: { result: CellResult }) {
  const { n, tier, variation, variation_ratio: ratio, robust_spread_ratio: robust } = result;
  if (tier === "one_run") return <CountBadge text="1 run" title="one run says nothing of the spread" />;
  if (tier === "few_runs")
    return <CountBadge text={`${n} runs`} title="below four runs there is no interval" />;
  if (variation === null || variation === "steady") return n;
  const robustly = robust === null ? "" : `; by median deviations ${formatValue(robust, "ratio")}`;
  const title = ratio === null ? "" : `coefficient of variation ${formatValue(ratio, "ratio")}${robustly}`;
  return <CountBadge text={`${n}, ${variation === "flagged" ? "uneven" : variation}`} title={title} />;
}

function CountBadge({ text, title }: { text: string; title: string }) {
  return (
    <Badge color="orange" miw="max-content" title={title} tt="none" variant="light">
      {text}
    </Badge>
  );
}
