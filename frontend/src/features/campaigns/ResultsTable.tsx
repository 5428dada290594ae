/** Results of a campaign as they come: a row for each cell and metric, median and range of its runs. */

import { Badge, Stack, Text } from "@mantine/core";
import { useInfiniteQuery } from "@tanstack/react-query";
import type { Cell, CellResult } from "@/api/types";
import { Loaded } from "@/components/Loaded";
import { TextLink } from "@/components/links";
import { Quantity } from "@/components/Quantity";
import { ScrollTable } from "@/components/ScrollTable";
import { ShowMore } from "@/components/ShowMore";
import { describeValues, varyingNames } from "@/lib/options";
import { formatValue, type Scale, scaleFor } from "@/lib/units";
import { cellsQuery } from "./queries";

interface ResultsTableProps {
  readonly campaignId: number;
  readonly clusterId: number;
}

const HEAD = ["Node", "Target", "Workload", "Options", "Metric", "Runs", "Median", "Min", "Max", ""];

export function ResultsTable({ campaignId, clusterId }: ResultsTableProps) {
  const cells = useInfiniteQuery(cellsQuery(campaignId));
  return (
    <Loaded
      empty={<Text c="dimmed">No result yet: the first row appears when the first run has finished.</Text>}
      isEmpty={(rows) => rows.every(({ results }) => results.length === 0)}
      query={cells}
    >
      {(rows) => (
        <Stack gap="xs">
          <Rows cells={rows} clusterId={clusterId} />
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

function Rows({ cells, clusterId }: { cells: readonly Cell[]; clusterId: number }) {
  const scales = commonScales(cells);
  return (
    <ScrollTable head={HEAD} label="Results">
      {cells.flatMap((cell) =>
        cell.results.map((result) => (
          <ResultRow
            cell={cell}
            clusterId={clusterId}
            key={`${cell.id} ${result.series_id}`}
            options={describeValues(cell.options, varyingFor(cell.workload, cells))}
            result={result}
            scale={scales.get(result.metric)}
          />
        )),
      )}
    </ScrollTable>
  );
}

interface ResultRowProps {
  readonly cell: Cell;
  readonly result: CellResult;
  readonly options: string;
  readonly scale: Scale | undefined;
  readonly clusterId: number;
}

function ResultRow({ cell, result, options, scale, clusterId }: ResultRowProps) {
  const { unit, n } = result;
  return (
    <tr>
      <td>{cell.node_names.join(", ")}</td>
      <td>{cell.target_names.join(", ")}</td>
      <td>{cell.workload}</td>
      <td className="iotide-wrap">{options}</td>
      <td>
        {result.title}
        <Text c="dimmed" size="xs">
          {labelText(cell, result)}
        </Text>
      </td>
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

/** How many runs stand behind a median: one alone says nothing of spread, and from four on they may scatter too far. */
function RunCount({ result: { n, variation, variation_ratio: ratio } }: { result: CellResult }) {
  const word =
    n === 1 ? "1 run" : variation && variation !== "steady" && variation !== "flagged" ? variation : null;
  if (!word) return n;
  return (
    <Badge
      color="orange"
      miw="max-content"
      title={
        ratio === null ? "no spread is known" : `coefficient of variation ${formatValue(ratio, "ratio")}`
      }
      tt="none"
      variant="light"
    >
      {n === 1 ? word : `${n}, ${word}`}
    </Badge>
  );
}

/** Labels that the options do not say already. */
function labelText(cell: Cell, { labels }: CellResult): string {
  const news = Object.keys(labels).filter((name) => labels[name] !== cell.options[name]);
  return describeValues(labels, news);
}

function varyingFor(workload: string, cells: readonly Cell[]): string[] {
  return varyingNames(cells.filter((cell) => cell.workload === workload).map(({ options }) => options));
}

/** One scale a metric, so that the numbers of a column compare. */
function commonScales(cells: readonly Cell[]): Map<string, Scale> {
  const largest = new Map<string, CellResult>();
  for (const result of cells.flatMap(({ results }) => results)) {
    if (result.high >= (largest.get(result.metric)?.high ?? 0)) largest.set(result.metric, result);
  }
  return new Map([...largest].map(([metric, { unit, high }]) => [metric, scaleFor(unit, high)]));
}
