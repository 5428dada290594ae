import { t } from "@lingui/core/macro";
import { Trans } from "@lingui/react/macro";
import { Alert, Button, Stack } from "@mantine/core";
import { useMutation, useQuery } from "@tanstack/react-query";
import type { ReactNode } from "react";
import type { RunDetail } from "@/api/types";
import { ConfirmMutation } from "@/components/buttons";
import { DefinitionRow, Fact } from "@/components/DefinitionRow";
import { Fold } from "@/components/Fold";
import { cautionsOf } from "@/components/flagWords";
import { CampaignLink } from "@/components/links";
import { Hint } from "@/components/looks";
import { OriginBadge, useOrigin } from "@/components/Origin";
import { useTitlesOf } from "@/components/optionTitles";
import { Loaded, LoadedPage, Page, Section } from "@/components/Page";
import { FactsTable, ScrollTable } from "@/components/ScrollTable";
import { useMay, useMayRun } from "@/components/session";
import { Seconds, When } from "@/components/values";
import { optionValue } from "@/lib/options";
import { placeWords } from "@/lib/placeWords";
import { elapsedSeconds, formatExactTime, formatLogTime } from "@/lib/time";
import { ArtefactsSection } from "./ArtefactsSection";
import { CurveSection } from "./CurveSection";
import { ForeignSection } from "./ForeignSection";
import { Io500Section } from "./Io500Section";
import { io500Of } from "./io500";
import { MetricsTable, MoreMetrics } from "./MetricsTable";
import { FlagsSection, NotJudgedSection } from "./NotJudgedSection";
import { ProgramSection } from "./ProgramSection";
import { cancelRun, retryRun, runEventsQuery, runQuery } from "./queries";
import { ReadingsSection } from "./ReadingsSection";
import { RunSummaryLine } from "./RunSummaryLine";
import { RunState } from "./RunsTable";
import { commandWords, StepsSection } from "./StepsSection";
import { WritersSection } from "./WritersSection";

interface RunPageProps {
  readonly runId: number;
  readonly curves: readonly string[] | undefined;
  readonly onCurves: (keys: readonly string[]) => void;
  readonly trend: ReactNode;
}

export function RunPage({ runId, curves, onCurves, trend }: RunPageProps) {
  const run = useQuery(runQuery(runId));
  return (
    <LoadedPage query={run} title={t`Run ${runId}`}>
      {(found) => (
        <Page actions={<Actions run={found} />} title={t`Run ${found.id}`} trail={<Trail run={found} />}>
          <RunSummaryLine run={found} />
          <Reasons run={found} />
          <RunFacts run={found} />
          <ProgramSection run={found} />
          <Results run={found} />
          {trend}
          <Stack gap="xs">
            <FlagsSection run={found} />
            <NotJudgedSection run={found} />
            <CurveSection onShow={onCurves} run={found} shown={curves} />
            <WritersSection run={found} />
            <ForeignSection run={found} />
            <Fold summary={commandWords(found)} title={t`Commands and raw output`}>
              <StepsSection run={found} />
              <ArtefactsSection run={found} />
            </Fold>
            <ReadingsSection run={found} />
            <Fold title={t`Log`}>
              <EventLog runId={found.id} />
            </Fold>
            <Environment run={found} />
          </Stack>
        </Page>
      )}
    </LoadedPage>
  );
}

/** The IO500 has a form of its own. */
function Results({ run }: { run: RunDetail }) {
  const io500 = io500Of(run);
  if (!io500)
    return (
      <Section title={t`Metrics`}>
        <MetricsTable run={run} />
      </Section>
    );
  return <Io500Section metrics={<MoreMetrics run={run} samples={run.samples} />} result={io500} run={run} />;
}

function Environment({ run: { environment, observations } }: { run: RunDetail }) {
  const count = Object.keys(environment).length;
  return (
    <>
      <Fold title={t`Environment`} summary={count > 0 ? t`${count} facts` : t`recorded when the run starts`}>
        <FactsTable facts={environment} label={t`Environment`} maxHeight={400} />
      </Fold>
      {observations.map(({ order_id, node_name, environment: facts }) => (
        <Fold key={order_id} title={t`Environment of ${node_name} (monitored)`}>
          <FactsTable facts={facts} label={t`Environment of ${node_name}`} maxHeight={400} />
        </Fold>
      ))}
    </>
  );
}

function Trail({ run }: { run: RunDetail }) {
  return (
    <Trans>
      <CampaignLink id={run.campaign_id} name={run.campaign_name} underline="always" /> · {run.workload} ·
      repeat {run.repeat} · {placeWords(run.node_names, run.target_names)}{" "}
      <OriginBadge clusterId={run.cluster_id} />
    </Trans>
  );
}

function Reasons({ run }: { run: RunDetail }) {
  return (
    <>
      {run.reason && (
        <Alert color={run.state === "failed" ? "red" : "orange"} title={run.reason_code ?? run.state}>
          {run.reason}
        </Alert>
      )}
      {run.waiting_because && <WaitNotice run={run} />}
    </>
  );
}

/** State and options; what is usual or unknown is left out. */
function RunFacts({ run }: { run: RunDetail }) {
  const titleOf = useTitlesOf()(run.workload);
  const isPublished = useOrigin(run.cluster_id) === "published";
  const { started_at: start, ended_at: end } = run;
  return (
    <DefinitionRow>
      <Fact label={t`State`}>
        <RunState run={run} />
      </Fact>
      {run.state === "finished" && <Fact label={t`Validity`}>{validityWords(run)}</Fact>}
      <Fact label={t`Started`}>
        {start ? <When at={start} /> : isPublished ? t`not published` : t`not yet`}
      </Fact>
      {start && end && !isPublished && (
        <Fact label={t`Duration`}>
          <Seconds value={elapsedSeconds(start, Date.parse(end))} />
        </Fact>
      )}
      {run.variant && <Fact label={t`Variant`}>{run.variant}</Fact>}
      {run.attempts_made > 1 && <Fact label={t`Attempts`}>{run.attempts_made}</Fact>}
      <BatchJob run={run} />
      {Object.entries(run.options).map(([name, value]) => (
        <Fact key={name} label={titleOf(name)}>
          {optionValue(name, value)}
        </Fact>
      ))}
    </DefinitionRow>
  );
}

function BatchJob({ run }: { run: RunDetail }) {
  const job = run.attempts.at(-1)?.batch_job;
  if (!job) return null;
  const said = job.words ? ` (${job.words})` : "";
  return (
    <Fact label={job.system === "slurm" ? t`Slurm job` : t`LSF job`}>
      {job.job_id ?? t`to be submitted`}: {job.ending ?? job.state}
      {said}
    </Fact>
  );
}

function Actions({ run }: { run: RunDetail }) {
  const retry = useMutation(retryRun);
  const mayOperate = useMay("operator", run.cluster_id);
  const mayRun = useMayRun(run.cluster_id);
  if (!mayOperate) return null;
  const canCancel = run.state === "waiting" || run.state === "active";
  const canRetry = mayRun && (run.state === "failed" || run.state === "cancelled");
  return (
    <>
      {canCancel && (
        <ConfirmMutation
          title={t`Cancel run ${run.id}?`}
          body={t`A running benchmark is stopped and its files are removed.`}
          yes={t`Cancel run`}
          no={t`Keep running`}
          mutation={cancelRun}
          variables={run.id}
        >{t`Cancel`}</ConfirmMutation>
      )}
      {canRetry && (
        <Button
          loading={retry.isPending}
          onClick={() => retry.mutate(run.id)}
          variant="default"
        >{t`Retry run`}</Button>
      )}
    </>
  );
}

function EventLog({ runId }: { runId: number }) {
  const events = useQuery(runEventsQuery(runId));
  return (
    <Loaded empty={t`No events yet.`} query={events}>
      {(rows) => (
        <ScrollTable head={[t`Time`, t`Event`, t`Details`]} label={t`Event log`} maxHeight={400}>
          {rows.map(({ at, kind, text }) => (
            <tr key={`${at} ${kind} ${text}`}>
              <td title={formatExactTime(at)}>{formatLogTime(at)}</td>
              <td>{kind}</td>
              <td className="iotide-wrap">{text}</td>
            </tr>
          ))}
        </ScrollTable>
      )}
    </Loaded>
  );
}

type Waiting = Pick<RunDetail, "waiting_because" | "expected_start_at" | "expected_start_unknown_because">;

export function WaitNotice({ run }: { run: Waiting }) {
  return (
    <Alert color="gray" title={t`Waiting reason`}>
      {run.waiting_because}
      <Hint mt={4}>
        <ExpectedStart run={run} />
      </Hint>
    </Alert>
  );
}

function ExpectedStart({ run }: { run: Waiting }) {
  if (run.expected_start_at)
    return (
      <Trans>
        Expected start: <When at={run.expected_start_at} />, estimated from the duration of similar runs.
      </Trans>
    );
  if (!run.expected_start_unknown_because) return null;
  return t`Start time unknown: ${run.expected_start_unknown_because}`;
}

/** Describes to what extent a finished run counts. */
export function validityWords({ validity, flags }: Pick<RunDetail, "validity" | "flags">): string {
  if (validity === "rejected") return t`rejected`;
  return cautionsOf(flags.map(({ code }) => code)).length > 0 ? t`kept, with cautions` : t`valid`;
}
