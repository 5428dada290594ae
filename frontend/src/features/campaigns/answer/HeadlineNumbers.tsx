/** Value, spread and number of runs of the primary metrics. */

import { t } from "@lingui/core/macro";
import { useInfiniteQuery } from "@tanstack/react-query";
import type { CellResult } from "@/api/types";
import { cautionsOf } from "@/components/flagWords";
import { Loaded } from "@/components/Page";
import { Quantity } from "@/components/values";
import { formatValue } from "@/lib/units";
import { cellsQuery } from "../queries";
import { useResults } from "../useResults";
import { type Headline, headlinesOf } from "./headlines";

export function HeadlineNumbers({ campaignId }: { campaignId: number }) {
  const cells = useInfiniteQuery(cellsQuery(campaignId));
  const results = useResults(campaignId);
  const headlines = headlinesOf(results?.primary ?? []);
  return (
    <Loaded
      empty={t`No valid results.`}
      isEmpty={() => results !== undefined && headlines.length === 0}
      query={cells}
    >
      {() => (
        <ul aria-label={t`Headline numbers`} className="iotide-headlines">
          {headlines.map((headline) => (
            <HeadlineItem headline={headline} key={headline.key} />
          ))}
        </ul>
      )}
    </Loaded>
  );
}

function HeadlineItem({ headline: { what, results } }: { headline: Headline }) {
  const [first, ...others] = [...results].sort((a, b) => a.median - b.median);
  const last = others.at(-1);
  if (!first) return null;
  const isDoubtful = results.some(({ flags }) => cautionsOf(flags).length > 0);
  return (
    <li>
      {what}
      <br />
      <strong className={isDoubtful ? "iotide-cautioned" : undefined}>
        <Quantity unit={first.unit} value={first.median} />
        {last && (
          <>
            {" "}
            {t`to`} <Quantity unit={last.unit} value={last.median} />
          </>
        )}
      </strong>
      <br />
      <small className="quiet">{last ? severalWords(results) : spreadWords(first)}</small>
    </li>
  );
}

function spreadWords({ n, unit, low, high, variation_ratio: variation }: CellResult): string {
  if (n === 1) return t`1 run, spread unknown`;
  const range = t`${formatValue(low, unit)} to ${formatValue(high, unit)}`;
  return variation === null
    ? t`${range}, ${n} runs`
    : t`spread ${formatValue(variation, "ratio")}, ${range}, ${n} runs`;
}

function severalWords(results: readonly CellResult[]): string {
  const counts = results.map(({ n }) => n);
  const [least, most] = [Math.min(...counts), Math.max(...counts)];
  const runs = least === most ? t`${most} runs each` : t`${least} to ${most} runs each`;
  return t`medians of ${results.length} configurations, ${runs}`;
}
