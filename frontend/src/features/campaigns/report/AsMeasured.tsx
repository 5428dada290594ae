/** Conditions that the runs actually had, not those planned. */

import { t } from "@lingui/core/macro";
import { useQuery } from "@tanstack/react-query";
import type { Conduct, ConductLine } from "@/api/types";
import { conductQuery } from "@/components/conductQueries";
import { Loaded } from "@/components/Page";
import { PaperTable } from "@/components/PaperTable";
import { RunLinks } from "@/components/RunLinks";
import { Row } from "@/components/ScrollTable";

/** Beyond, runs are shown as spans. */
const MOST_LINKS = 4;

export function AsMeasured({ campaignId }: { campaignId: number }) {
  const conduct = useQuery(conductQuery(campaignId));
  return (
    <>
      <h3>{t`As measured`}</h3>
      <Loaded
        empty={<p>{t`No run has finished.`}</p>}
        isEmpty={({ runs }: Conduct) => runs === 0}
        query={conduct}
      >
        {(found) => <ConductTable found={found} />}
      </Loaded>
    </>
  );
}

export function ConductTable({ found }: { found: Conduct }) {
  const topics: [string, readonly ConductLine[]][] = [
    [t`Cache`, found.cache],
    [t`Exclusivity`, found.exclusivity],
    [t`Other load`, found.other_load],
    [t`Not judged`, found.not_judged],
  ];
  return (
    <PaperTable head={[t`Condition`, t`Measured`, t`Runs`]} label={t`As measured`}>
      {topics.flatMap(([topic, lines]) =>
        lines.map((line) => (
          <Row key={`${topic} ${line.words}`}>
            <td className="strong">{topic}</td>
            {line.words}
            {line.runs === found.runs ? (
              t`all ${found.runs}`
            ) : (
              <>
                {t`${line.runs} of ${found.runs}`}: <RunLinks ids={line.run_ids} mostLinks={MOST_LINKS} />
                {line.runs > line.run_ids.length && t` and ${line.runs - line.run_ids.length} more`}
              </>
            )}
          </Row>
        )),
      )}
    </PaperTable>
  );
}
