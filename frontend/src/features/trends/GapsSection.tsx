import { t } from "@lingui/core/macro";
import { Alert } from "@mantine/core";
import { CampaignLink, RunLink } from "@/components/links";
import { Hint } from "@/components/looks";
import { Section } from "@/components/Page";
import { ScrollTable } from "@/components/ScrollTable";
import { When } from "@/components/values";
import { formatDay } from "@/lib/time";
import { gapWords, type Stretch } from "@/plots/timeAxis";
import { type Failure, failureWords, type NamedPoints } from "./drawn";

interface LinesProps {
  readonly lines: readonly NamedPoints[];
}

/** Without this notice, a line that ends looks like one that continues. */
export function StaleNotice({ lines }: LinesProps) {
  const stale = lines.flatMap(({ name, points }) => {
    const since = points.gaps.find(({ until }) => until === null)?.since;
    return since === undefined ? [] : [{ name, since, id: points.series.id }];
  });
  if (stale.length === 0) return null;
  return (
    <Alert color="orange" p="xs">
      {stale.map(({ name, since, id }) => (
        <div key={id}>
          {lines.length > 1 && `${name}: `}
          {t`no data since ${formatDay(since)}`}
        </div>
      ))}
    </Alert>
  );
}

export function GapsSection({ lines }: LinesProps) {
  const rows = lines.flatMap(({ name, points }) => [
    ...points.gaps.map((gap) => ({ name, key: `gap ${points.series.id} ${gap.since}`, at: gap.since, gap })),
    ...points.failures.map((failure) => ({
      name,
      key: `failure ${points.series.id} ${failure.cell_id}`,
      at: failure.at,
      failure,
    })),
  ]);
  const unjudged = lines.filter(({ points }) => points.gap_missing_days > 0);
  if (rows.length === 0 && unjudged.length === 0) return null;
  return (
    <Section
      description={t`A gap is longer than twice the usual time between days with points. Failed runs leave points missing.`}
      title={t`Gaps and failures`}
    >
      {unjudged.map(({ name, points }) => (
        <Hint key={points.series.id}>
          {lines.length > 1 && `${name}: `}
          {t`gaps not evaluated: needs points on ${points.gap_missing_days} more days`}
        </Hint>
      ))}
      {rows.length > 0 && <Rows rows={rows} />}
    </Section>
  );
}

type Row = { readonly name: string; readonly key: string; readonly at: string } & (
  | { readonly gap: Stretch }
  | { readonly failure: Failure }
);

function Rows({ rows }: { rows: readonly Row[] }) {
  return (
    <ScrollTable
      head={[t`Series`, t`Details`, t`Since`, t`Runs`]}
      label={t`Gaps and failures`}
      maxHeight={440}
    >
      {rows
        .toSorted((a, b) => Date.parse(b.at) - Date.parse(a.at))
        .map((row) => (
          <tr key={row.key}>
            <td className="iotide-name">{row.name}</td>
            {"gap" in row ? <GapCells gap={row.gap} /> : <FailureCells failure={row.failure} />}
          </tr>
        ))}
    </ScrollTable>
  );
}

function GapCells({ gap }: { gap: Stretch }) {
  return (
    <>
      <td className="iotide-wrap">{gapWords(gap)}</td>
      <td>
        <When at={gap.since} />
      </td>
      <td />
    </>
  );
}

function FailureCells({ failure }: { failure: Failure }) {
  return (
    <>
      <td className="iotide-wrap">{failureWords(failure)}</td>
      <td>
        <When at={failure.at} />
      </td>
      <td>
        <RunLink id={failure.run_id} inherit name={t`run ${failure.run_id}`} />
        {" · "}
        <CampaignLink id={failure.campaign_id} inherit name={t`campaign ${failure.campaign_id}`} />
      </td>
    </>
  );
}
