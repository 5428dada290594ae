/** The values of one pair of configurations of two campaigns. */

import { t } from "@lingui/core/macro";
import { Trans } from "@lingui/react/macro";
import { Alert } from "@mantine/core";
import { TextLink } from "@/components/links";
import { useTitlesOf } from "@/components/optionTitles";
import { ComparedSection } from "./ComparedSection";
import { type Cell, PAIR, type Row, titleOfMetric } from "./compared";
import { comparedTable } from "./exports";
import { NumbersTable, type RenderRepeats } from "./NumbersTable";

interface PairSectionProps {
  readonly row: Row;
  readonly renderRepeats: RenderRepeats;
}

export function PairSection({ row, renderRepeats }: PairSectionProps) {
  const { name, workload, cells, metrics } = row;
  const titleOf = useTitlesOf()(workload);
  const compared = { names: PAIR, against: 0, rows: [row] };
  const [a, b] = cells.map((cell, place) => {
    const runs = Math.min(...metrics.map(({ numbers }) => numbers[place]?.n ?? Number.NaN));
    return (
      cell && [<NamedCell cell={cell} key="cell" side={PAIR[place] ?? ""} />, " ", renderRepeats(cell, runs)]
    );
  });
  return (
    <ComparedSection
      description={
        <Trans>
          {a} compared with {b}
        </Trans>
      }
      sentence={metrics.length === 0 && t`These configurations have no common metric.`}
      table={
        metrics.length > 0 && (
          <NumbersTable
            compared={compared}
            exported={() => comparedTable(compared)}
            head={t`Metric`}
            label={t`Metrics of ${name}`}
            rows={metrics.map((metric) => ({ ...row, name: titleOfMetric(metric, titleOf), metric }))}
          />
        )
      }
      title={name}
      unlike={compared}
    />
  );
}

function NamedCell({ cell, side }: { readonly cell: Cell; readonly side: string }) {
  return (
    <Trans>
      {side}:{" "}
      <TextLink params={{ campaignId: cell.campaign_id }} to="/campaigns/$campaignId" underline="always">
        campaign {cell.campaign_id}, configuration {cell.ordinal}
      </TextLink>{" "}
      ({cell.node_names.join(", ")} on {cell.target_names.join(", ") || t`no target`})
    </Trans>
  );
}

/** Names the configurations that have no counterpart. */
export function Alone({ side, cells }: { readonly side: string; readonly cells: readonly number[] }) {
  if (cells.length === 0) return null;
  return (
    <Alert color="orange">
      <Trans>
        {cells.length === 1 ? t`Configuration` : t`Configurations`} {cells.join(", ")} of {side}{" "}
        {cells.length === 1 ? t`has` : t`have`} no clear counterpart. To compare them, select a configuration
        of each side above.
      </Trans>
    </Alert>
  );
}
