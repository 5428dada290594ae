/** Flags, failures and environment for the campaign report. */

import { t } from "@lingui/core/macro";
import { Trans } from "@lingui/react/macro";
import { useQuery } from "@tanstack/react-query";
import type { Flag, Run } from "@/api/types";
import { FLAG_WORDS } from "@/components/flagWords";
import { Loaded } from "@/components/Page";
import { PaperTable } from "@/components/PaperTable";
import { RunLinks } from "@/components/RunLinks";
import { PaperFold } from "@/components/report/ReportPage";
import { Row } from "@/components/ScrollTable";
import { optionValue } from "@/lib/options";
import { MOST_REPORTED_RUNS, reportedRunsQuery, runQuery } from "./queries";

export function ReportRuns({ campaignId }: { campaignId: number }) {
  const runs = useQuery(reportedRunsQuery(campaignId));
  return (
    <Loaded query={runs}>
      {(found) => {
        const example = found.findLast(({ state }) => state === "finished");
        return (
          <>
            <Endings runs={found} />
            <PaperFold title={t`Flags`}>
              <Flags runs={found} />
            </PaperFold>
            {found.length >= MOST_REPORTED_RUNS && (
              <p className="quiet">{t`Only the newest ${MOST_REPORTED_RUNS} runs are included.`}</p>
            )}
            {example && <Environment runId={example.id} />}
          </>
        );
      }}
    </Loaded>
  );
}

interface Flagged {
  readonly run: Run;
  readonly flag: Flag;
}

function Flags({ runs }: { runs: readonly Run[] }) {
  const flagged = runs.flatMap((run) => run.flags.map((flag): Flagged => ({ run, flag })));
  if (flagged.length === 0) return <p>{t`No run has a flag.`}</p>;
  const codes = [...new Set(flagged.map(({ flag }) => flag.code))];
  return (
    <PaperTable head={[t`Flag`, t`Meaning`, t`Limit`, t`Example value`, t`Runs`]} label={t`Flags`}>
      {codes.map((code) => {
        const alike = flagged.filter(({ flag }) => flag.code === code);
        const [first] = alike;
        return (
          <Row key={code}>
            <td className="strong">{FLAG_WORDS[code].title}</td>
            <td>
              {FLAG_WORDS[code].meaning}
              {alike.some(({ flag }) => flag.effect === "rejected") &&
                t`; these runs are excluded from results`}
            </td>
            {first?.flag.limit}
            {first?.flag.measured}
            <RunLinks ids={[...new Set(alike.map(({ run }) => run.id))].sort((a, b) => a - b)} />
          </Row>
        );
      })}
    </PaperTable>
  );
}

function Endings({ runs }: { runs: readonly Run[] }) {
  const ended = runs.filter(
    ({ state, validity }) =>
      state === "failed" || state === "cancelled" || (state === "finished" && validity === "rejected"),
  );
  if (ended.length === 0) return <p>{t`All ended runs have a result.`}</p>;
  return (
    <>
      <h2>{t`Runs without a result`}</h2>
      <PaperTable head={[t`Run`, t`State`, t`Reason`]} label={t`Runs without a result`}>
        {ended.map((run) => (
          <Row key={run.id}>
            <RunLinks ids={[run.id]} />
            {run.state === "finished" ? t`rejected` : run.state}
            {run.reason ??
              run.flags.map(({ code, measured }) => `${FLAG_WORDS[code].title}: ${measured}`).join("; ")}
          </Row>
        ))}
      </PaperTable>
    </>
  );
}

function Environment({ runId }: { runId: number }) {
  const run = useQuery(runQuery(runId));
  return (
    <PaperFold title={t`Environment`}>
      <p className="quiet">
        <Trans>
          As reported by run <RunLinks ids={[runId]} />. Changes appear as events in trends.
        </Trans>
      </p>
      <Loaded
        empty={<p>{t`No facts reported.`}</p>}
        isEmpty={({ environment }) => Object.keys(environment).length === 0}
        query={run}
      >
        {({ environment }) => (
          <PaperTable head={[t`Fact`, t`Value`]} label={t`Environment`}>
            {Object.entries(environment)
              .sort(([a], [b]) => a.localeCompare(b))
              .map(([name, value]) => (
                <tr key={name}>
                  <td>{name}</td>
                  <td>{optionValue(name, value)}</td>
                </tr>
              ))}
          </PaperTable>
        )}
      </Loaded>
    </PaperFold>
  );
}
