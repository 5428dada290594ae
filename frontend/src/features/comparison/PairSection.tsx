/** Two cells that belong together: what is unlike about them first, then each number in words that say no more than was shown. */

import { t } from "@lingui/core/macro";
import { Trans } from "@lingui/react/macro";
import { Alert, Group, Stack, Text } from "@mantine/core";
import type { ComparedCell, ComparedMetric, ComparedPair } from "@/api/types";
import { Datum } from "@/components/Datum";
import { DirectionBadge } from "@/components/DirectionBadge";
import { IntervalMark } from "@/components/IntervalMark";
import { type Interval, reachOf } from "@/components/interval";
import { TextLink } from "@/components/links";
import { MedianRatio } from "@/components/MedianRatio";
import { OptionValue } from "@/components/OptionValue";
import { useTitlesOf } from "@/components/optionTitles";
import { Section } from "@/components/Page";
import { RunNumbers } from "@/components/RunNumbers";
import { ScrollTable } from "@/components/ScrollTable";
import type { TitleOf } from "@/lib/options";
import { formatP, formatShift, formatValue } from "@/lib/units";
import { pairsTable } from "./exports";
import { metricKey, titleOfMetric } from "./figures";
import { ENOUGH_RUNS, type RenderRepeats } from "./repeats";

const OPTION = "options.";
const GREY = { c: "dimmed" } as const;

interface PairSectionProps {
  readonly name: string;
  readonly pair: ComparedPair;
  readonly renderRepeats: RenderRepeats;
}

export function PairSection({ name, pair, renderRepeats }: PairSectionProps) {
  const { a, b, metrics } = pair;
  const titleOf = useTitlesOf()(a.workload);
  const reach = reachOf(metrics.flatMap((metric) => intervalOf(metric) ?? []));
  return (
    <Section
      description={
        <Trans>
          <Cell cell={a} side="A" />{" "}
          {repeatsOf(
            a,
            metrics.map(({ n_a }) => n_a),
            renderRepeats,
          )}{" "}
          against <Cell cell={b} side="B" />{" "}
          {repeatsOf(
            b,
            metrics.map(({ n_b }) => n_b),
            renderRepeats,
          )}
        </Trans>
      }
      title={name}
    >
      <Stack gap="sm">
        <Differences pair={pair} titleOf={titleOf} />
        {metrics.length === 0 ? (
          <Text c="dimmed">{t`These cells have no common number.`}</Text>
        ) : (
          <ScrollTable
            exported={{ table: () => pairsTable([pair]) }}
            head={[t`Number`, "A", "B", t`B / A`, t`In words`, "p"]}
            label={t`Numbers of ${name}`}
          >
            {metrics.map((metric) => (
              <MetricRow
                isAlike={pair.is_alike}
                key={metricKey(metric)}
                metric={metric}
                reach={reach}
                titleOf={titleOf}
              />
            ))}
          </ScrollTable>
        )}
      </Stack>
    </Section>
  );
}

/** What queues the repeats that a side lacks for an interval. */
function repeatsOf(cell: ComparedCell, runs: readonly number[], render: RenderRepeats) {
  const missing = ENOUGH_RUNS - Math.min(...runs);
  return missing > 0 && Number.isFinite(missing) && render(cell, missing);
}

function Cell({ cell, side }: { cell: ComparedCell; side: string }) {
  return (
    <Trans>
      {side}:{" "}
      <TextLink params={{ campaignId: cell.campaign_id }} to="/campaigns/$campaignId" underline="always">
        campaign {cell.campaign_id}, cell {cell.ordinal}
      </TextLink>{" "}
      ({cell.node_names.join(", ")} on {cell.target_names.join(", ") || t`no target`})
    </Trans>
  );
}

function Differences({ pair, titleOf }: { pair: ComparedPair; titleOf: TitleOf }) {
  if (pair.differences.length === 0) return null;
  return (
    <Stack gap="xs">
      {!pair.is_alike && (
        <Alert color="orange" variant="light">
          <Trans>These two did not run the same. A ratio between them says little, and is grey.</Trans>
        </Alert>
      )}
      <ScrollTable head={[t`Unlike in`, "A", "B"]} label={t`Differences`}>
        {pair.differences.map(({ name, a, b }) => {
          const option = name.startsWith(OPTION) ? name.slice(OPTION.length) : undefined;
          return (
            <tr key={name}>
              <td>{option === undefined ? name : titleOf(option)}</td>
              <td className="iotide-wrap">
                <OptionValue name={option ?? name} value={a} />
              </td>
              <td className="iotide-wrap">
                <OptionValue name={option ?? name} value={b} />
              </td>
            </tr>
          );
        })}
      </ScrollTable>
    </Stack>
  );
}

interface MetricRowProps {
  readonly metric: ComparedMetric;
  /** How far the drawings of the table reach. */
  readonly reach: number;
  readonly isAlike: boolean;
  readonly titleOf: TitleOf;
}

function MetricRow({ metric, isAlike, reach, titleOf }: MetricRowProps) {
  const { values_a, values_b, median_a, median_b, flags_a, flags_b, modes_a, modes_b, p_value, unit } =
    metric;
  return (
    <tr>
      <td className="iotide-name">{titleOfMetric(metric, titleOf)}</td>
      <td>
        <RunNumbers flags={flags_a} median={median_a} modes={modes_a} unit={unit} values={values_a} />
      </td>
      <td>
        <RunNumbers flags={flags_b} median={median_b} modes={modes_b} unit={unit} values={values_b} />
      </td>
      <td>
        <Ratio isAlike={isAlike} metric={metric} reach={reach} />
      </td>
      <td className="iotide-wrap">
        <Words isAlike={isAlike} metric={metric} />
      </td>
      <td>{p_value !== null && <Datum value={p_value}>{formatP(p_value)}</Datum>}</td>
    </tr>
  );
}

/** What is drawn of a comparison: the ratio with its interval, or that of the medians; none where there is no ratio. */
function intervalOf({ ratio, low, high, median_ratio }: ComparedMetric): Interval | null {
  const shown = ratio ?? median_ratio;
  return shown === null ? null : { ratio: shown, low: ratio && low, high: ratio && high };
}

function Ratio({ metric, isAlike, reach }: Omit<MetricRowProps, "titleOf">) {
  const interval = intervalOf(metric);
  return (
    <Group gap="xs" wrap="nowrap">
      <RatioInWords isAlike={isAlike} metric={metric} />
      {interval && <IntervalMark isFaint={!isAlike || interval.low === null} of={interval} reach={reach} />}
    </Group>
  );
}

/** Grey, and without an interval, where there are too few runs for more. */
function RatioInWords({
  metric: { ratio, low, high, median_ratio },
  isAlike,
}: Pick<MetricRowProps, "metric" | "isAlike">) {
  if (ratio !== null && low !== null && high !== null)
    return (
      <Text {...(!isAlike && GREY)} component="span" inherit>
        <span className="iotide-number">{formatShift(ratio)}</span>
        <Text c="dimmed" size="xs">
          <Trans>
            {formatShift(low)} to {formatShift(high)}
          </Trans>
        </Text>
      </Text>
    );
  return median_ratio === null ? null : <MedianRatio ratio={median_ratio} />;
}

function Words({ metric, isAlike }: Pick<MetricRowProps, "metric" | "isAlike">) {
  const { verdict, words, ratio, better, is_discovery } = metric;
  const isShown = verdict === "higher" || verdict === "lower";
  const isJudged = isShown && isAlike && is_discovery === true && ratio !== null;
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
      {isShown && is_discovery === false && (
        <Text c="dimmed" size="xs">
          <Trans>
            Among so many comparisons it may be chance (false discoveries of {formatValue(0.05, "ratio")}).
          </Trans>
        </Text>
      )}
    </>
  );
}
