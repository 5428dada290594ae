/** Two cells that belong together: what is unlike about them first, then each number in words that say no more than was shown. */

import { Alert, Badge, Stack, Text } from "@mantine/core";
import type { ComparedCell, ComparedMetric, ComparedPair } from "@/api/types";
import { DirectionBadge } from "@/components/DirectionBadge";
import { TextLink } from "@/components/links";
import { useTitlesOf } from "@/components/optionTitles";
import { Section } from "@/components/Page";
import { Quantity } from "@/components/Quantity";
import { ScrollTable } from "@/components/ScrollTable";
import { optionValue, type TitleOf } from "@/lib/options";
import { formatP, formatShift, formatValue, scaleFor } from "@/lib/units";
import { metricKey, titleOfMetric } from "./figures";

const OPTION = "options.";
const GREY = { c: "dimmed" } as const;

export function PairSection({ name, pair }: { name: string; pair: ComparedPair }) {
  const titleOf = useTitlesOf()(pair.a.workload);
  return (
    <Section
      description={
        <>
          <Cell cell={pair.a} side="A" /> against <Cell cell={pair.b} side="B" />
        </>
      }
      title={name}
    >
      <Stack gap="sm">
        <Differences pair={pair} titleOf={titleOf} />
        {pair.metrics.length === 0 ? (
          <Text c="dimmed">These cells have no common number.</Text>
        ) : (
          <ScrollTable head={["Number", "A", "B", "B / A", "In words", "p"]} label={`Numbers of ${name}`}>
            {pair.metrics.map((metric) => (
              <MetricRow isAlike={pair.is_alike} key={metricKey(metric)} metric={metric} titleOf={titleOf} />
            ))}
          </ScrollTable>
        )}
      </Stack>
    </Section>
  );
}

function Cell({ cell, side }: { cell: ComparedCell; side: string }) {
  return (
    <>
      {side}:{" "}
      <TextLink params={{ campaignId: cell.campaign_id }} to="/campaigns/$campaignId" underline="always">
        campaign {cell.campaign_id}, cell {cell.ordinal}
      </TextLink>{" "}
      ({cell.node_names.join(", ")} on {cell.target_names.join(", ") || "no target"})
    </>
  );
}

function Differences({ pair, titleOf }: { pair: ComparedPair; titleOf: TitleOf }) {
  if (pair.differences.length === 0) return null;
  return (
    <Stack gap="xs">
      {!pair.is_alike && (
        <Alert color="orange" variant="light">
          These two did not run the same. A ratio between them says little, and is grey.
        </Alert>
      )}
      <ScrollTable head={["Unlike in", "A", "B"]} label="Differences">
        {pair.differences.map(({ name, a, b }) => {
          const option = name.startsWith(OPTION) ? name.slice(OPTION.length) : undefined;
          return (
            <tr key={name}>
              <td>{option === undefined ? name : titleOf(option)}</td>
              <td className="iotide-wrap">{optionValue(option ?? name, a)}</td>
              <td className="iotide-wrap">{optionValue(option ?? name, b)}</td>
            </tr>
          );
        })}
      </ScrollTable>
    </Stack>
  );
}

interface MetricRowProps {
  readonly metric: ComparedMetric;
  readonly isAlike: boolean;
  readonly titleOf: TitleOf;
}

function MetricRow({ metric, isAlike, titleOf }: MetricRowProps) {
  const { values_a, values_b, median_a, median_b, modes_a, modes_b, p_value } = metric;
  return (
    <tr>
      <td className="iotide-name">
        {titleOfMetric(metric, titleOf)}
        {metric.flags.length > 0 && (
          <Text c="dimmed" size="xs">
            {metric.flags.join(", ")}
          </Text>
        )}
      </td>
      <td>
        <Side median={median_a} metric={metric} modes={modes_a} values={values_a} />
      </td>
      <td>
        <Side median={median_b} metric={metric} modes={modes_b} values={values_b} />
      </td>
      <td>
        <Ratio isAlike={isAlike} metric={metric} />
      </td>
      <td className="iotide-wrap">
        <Words isAlike={isAlike} metric={metric} />
      </td>
      <td>{p_value === null ? "" : formatP(p_value)}</td>
    </tr>
  );
}

interface SideProps {
  readonly metric: ComparedMetric;
  readonly median: number;
  readonly values: readonly number[];
  readonly modes: ComparedMetric["modes_a"];
}

/** One value of one run, the median and range of several, and both modes where there are two. */
function Side({ metric: { unit }, median, values, modes }: SideProps) {
  const scale = scaleFor(unit, Math.max(...values));
  if (values.length === 1)
    return (
      <>
        <Quantity unit={unit} value={median} />{" "}
        <Badge color="orange" tt="none" variant="light">
          1 run
        </Badge>
      </>
    );
  if (modes)
    return (
      <>
        <Quantity scale={scale} unit={unit} value={modes.low} /> ({modes.low_runs} runs)
        <br />
        <Quantity scale={scale} unit={unit} value={modes.high} /> ({modes.high_runs} runs)
      </>
    );
  return (
    <>
      <Quantity scale={scale} unit={unit} value={median} />
      <Text c="dimmed" size="xs">
        {values.length} runs, <Quantity scale={scale} unit={unit} value={Math.min(...values)} /> to{" "}
        <Quantity scale={scale} unit={unit} value={Math.max(...values)} />
      </Text>
    </>
  );
}

/** Grey, and without an interval, where there are too few runs for more. */
function Ratio({
  metric: { ratio, low, high, median_ratio },
  isAlike,
}: Pick<MetricRowProps, "metric" | "isAlike">) {
  if (ratio !== null && low !== null && high !== null)
    return (
      <Text {...(!isAlike && GREY)} component="span" inherit>
        <span className="iotide-number">{formatShift(ratio)}</span>
        <Text c="dimmed" size="xs">
          {formatShift(low)} to {formatShift(high)}
        </Text>
      </Text>
    );
  if (median_ratio === null) return null;
  return (
    <Text c="dimmed" component="span" inherit title="ratio of the medians, without an interval">
      {formatShift(median_ratio)}
    </Text>
  );
}

function Words({ metric, isAlike }: Pick<MetricRowProps, "metric" | "isAlike">) {
  const { verdict, words, ratio, better, is_discovery } = metric;
  const isShown = verdict === "higher" || verdict === "lower";
  const isJudged = isShown && isAlike && is_discovery && ratio !== null;
  return (
    <>
      {isJudged && (
        <>
          <DirectionBadge
            change={{
              shift_ratio: ratio - 1,
              direction: better === "neither" ? null : better === verdict ? "better" : "worse",
            }}
          />{" "}
        </>
      )}
      <Text {...(!isAlike && GREY)} component="span" inherit>
        {words}
      </Text>
      {isShown && !is_discovery && (
        <Text c="dimmed" size="xs">
          Among so many comparisons it may be chance (false discoveries of {formatValue(0.05, "ratio")}).
        </Text>
      )}
    </>
  );
}
