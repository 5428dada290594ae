/** Medians of two time ranges. Points of different ranges are of different days, so there is no verdict. */

import { t } from "@lingui/core/macro";
import { Button, Group } from "@mantine/core";
import { useQueries } from "@tanstack/react-query";
import { DayFilter } from "@/components/filters";
import { Hint } from "@/components/looks";
import { ErrorNotice, Section } from "@/components/Page";
import { ScrollTable } from "@/components/ScrollTable";
import { Datum, Quantity } from "@/components/values";
import { dayBegin, dayEnd, localTime } from "@/lib/time";
import { formatShift, type Unit } from "@/lib/units";
import type { Span } from "@/plots/timeAxis";
import type { RangePair } from "@/plots/trendNotes";
import type { NamedPoints } from "./drawn";
import { rangeQuery } from "./queries";
import { NO_RANGES, type RangeSummary, ratioOf, summaryOf, viewOf } from "./ranges";
import type { TrendView } from "./selection";

interface RangeComparisonProps {
  readonly lines: readonly NamedPoints[];
  readonly ranges: RangePair;
  readonly onView: (change: TrendView) => void;
}

export function RangeComparison({ lines, ranges, onView }: RangeComparisonProps) {
  const found = useQueries({
    queries: lines.flatMap(({ points: { series } }) =>
      [ranges.a, ranges.b].map((span) => ({ ...rangeQuery(series.id, span), select: summaryOf })),
    ),
  });
  const failed = found.find(({ error }) => error)?.error;
  const leftOut = found.reduce((sum, { data }) => sum + (data?.leftOut ?? 0), 0);
  return (
    <Section
      actions={
        <Button onClick={() => onView(NO_RANGES)} size="compact-sm" variant="default">
          {t`Stop comparing`}
        </Button>
      }
      description={t`Median of the points in each range, and the range of their middle half. No test is applied: results may differ from day to day anyway.`}
      title={t`Two time ranges`}
    >
      <Group gap="xs" mb="sm">
        <RangeInputs name="A" onRange={(a) => onView(viewOf({ ...ranges, a }))} range={ranges.a} />
        <RangeInputs name="B" onRange={(b) => onView(viewOf({ ...ranges, b }))} range={ranges.b} />
      </Group>
      {failed && <ErrorNotice error={failed} />}
      <ScrollTable
        head={[
          t`Series`,
          t`Median A`,
          t`Middle half A`,
          t`Points A`,
          t`Median B`,
          t`Middle half B`,
          t`Points B`,
          t`B against A`,
        ]}
        label={t`Two time ranges`}
      >
        {lines.map(({ name, points: { series } }, place) => (
          <SummaryRow
            a={found[2 * place]?.data}
            b={found[2 * place + 1]?.data}
            key={series.id}
            name={name}
            unit={series.unit}
          />
        ))}
      </ScrollTable>
      {leftOut > 0 && <Hint>{t`Only the newest 10,000 points of a range are included.`}</Hint>}
    </Section>
  );
}

type Summary = RangeSummary | null | undefined;

function SummaryRow({ name, unit, a, b }: { name: string; unit: Unit; a: Summary; b: Summary }) {
  const ratio = ratioOf(a, b);
  return (
    <tr>
      <td className="iotide-name">{name}</td>
      <SummaryCells summary={a} unit={unit} />
      <SummaryCells summary={b} unit={unit} />
      <td>{ratio === null ? t`no ratio` : <Datum value={ratio}>{formatShift(ratio)}</Datum>}</td>
    </tr>
  );
}

/** Undefined while loading. */
function SummaryCells({ summary, unit }: { summary: Summary; unit: Unit }) {
  if (!summary) return <td colSpan={3}>{summary === null ? t`no points in this range` : t`Loading …`}</td>;
  return (
    <>
      <td>
        <Quantity unit={unit} value={summary.median} />
      </td>
      <td>
        <Quantity unit={unit} value={summary.low} /> – <Quantity unit={unit} value={summary.high} />
      </td>
      <td>{summary.n}</td>
    </>
  );
}

interface RangeInputsProps {
  readonly name: string;
  readonly range: Span;
  readonly onRange: (range: Span) => void;
}

/** An end without a valid day, or before the other one, changes nothing. */
function RangeInputs({ name, range, onRange }: RangeInputsProps) {
  function choose(change: Span): void {
    const { from, to } = { ...range, ...change };
    if (from && to && Date.parse(from) < Date.parse(to)) onRange({ from, to });
  }
  return (
    <>
      <DayFilter
        label={t`${name} from`}
        onDay={(day) => choose({ from: dayBegin(day) ?? range.from })}
        value={localTime(range.from ?? 0).slice(0, 10)}
      />
      <DayFilter
        label={t`${name} to`}
        onDay={(day) => choose({ to: dayEnd(day) ?? range.to })}
        value={localTime(range.to ?? 0).slice(0, 10)}
      />
    </>
  );
}
