/** Results of a campaign as they come: median and range of each cell's runs, a table for each workload and metric. */

import { Badge, Stack, Text, Title } from "@mantine/core";
import { useInfiniteQuery } from "@tanstack/react-query";
import type { CellResult } from "@/api/types";
import { Loaded } from "@/components/Loaded";
import { TextLink } from "@/components/links";
import { Quantity } from "@/components/Quantity";
import { ScrollTable } from "@/components/ScrollTable";
import { ShowMore } from "@/components/ShowMore";
import { formatValue, type Scale } from "@/lib/units";
import { cellsQuery } from "./queries";
import { groupResults, type ResultGroup, type ResultRow } from "./results";

interface ResultsTableProps {
  readonly campaignId: number;
  readonly clusterId: number;
}

const HEAD = ["Node", "Target", "Of", "Runs", "Median", "Min", "Max", ""];

export function ResultsTable({ campaignId, clusterId }: ResultsTableProps) {
  const cells = useInfiniteQuery(cellsQuery(campaignId));
  return (
    <Loaded
      empty={<Text c="dimmed">No result yet: the first row appears when the first run has finished.</Text>}
      isEmpty={(rows) => rows.every(({ results }) => results.length === 0)}
      query={cells}
    >
      {(rows) => (
        <Stack>
          {groupResults(rows).map((group) => (
            <GroupTable clusterId={clusterId} group={group} key={group.key} />
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
      <td>{cell.node_names.join(", ")}</td>
      <td>{cell.target_names.join(", ")}</td>
      <td className="iotide-wrap">{what}</td>
      <td>
        <RunCount result={result} />
      </td>
      <td className="iotide-strong">
        <Quantity scale={scale} unit={unit} value={result.median} />
      </td>
      <td>{n > 1 && <Quantity scale={scale} unit={unit} value={result.low} />}</td>
      <td>{n > 1 && <Quantity scale={scale} unit={unit} value={result.high} />}</td>
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

/** How many runs stand behind a median: one alone says nothing of spread, and several may scatter too far. */
function RunCount({ result: { n, tier, variation, variation_ratio: ratio } }: { result: CellResult }) {
  if (tier === "one_run") return <CountBadge text="1 run" title="one run says nothing of the spread" />;
  if (variation !== "noisy" && variation !== "unrankable") return n;
  const title = ratio === null ? "" : `coefficient of variation ${formatValue(ratio, "ratio")}`;
  return <CountBadge text={`${n}, ${variation}`} title={title} />;
}

function CountBadge({ text, title }: { text: string; title: string }) {
  return (
    <Badge color="orange" miw="max-content" title={title} tt="none" variant="light">
      {text}
    </Badge>
  );
}
