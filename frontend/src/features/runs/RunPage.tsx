import { t } from "@lingui/core/macro";
import { Trans } from "@lingui/react/macro";
import { Alert, Button, DataList, SimpleGrid, Text } from "@mantine/core";
import { useMutation, useQuery } from "@tanstack/react-query";
import type { ReactNode } from "react";
import type { RunDetail } from "@/api/types";
import { ConfirmMutation } from "@/components/buttons";
import { Definition } from "@/components/Definition";
import { cautionsOf } from "@/components/flagWords";
import { CampaignLink } from "@/components/links";
import { Hint } from "@/components/looks";
import { OriginBadge, useOrigin } from "@/components/Origin";
import { useTitlesOf } from "@/components/optionTitles";
import { Loaded, LoadedPage, Page, Section } from "@/components/Page";
import { FactsTable, ScrollTable } from "@/components/ScrollTable";
import { useMay, useMayRun } from "@/components/session";
import { When } from "@/components/values";
import { optionValue } from "@/lib/options";
import { formatExactTime, formatLogTime } from "@/lib/time";
import { ArtefactsSection } from "./ArtefactsSection";
import { CurveSection } from "./CurveSection";
import { ForeignSection } from "./ForeignSection";
import { MetricsTable } from "./MetricsTable";
import { FlagsSection, NotJudgedSection } from "./NotJudgedSection";
import { cancelRun, retryRun, runEventsQuery, runQuery } from "./queries";
import { ReadingsSection } from "./ReadingsSection";
import { RunState } from "./RunsTable";
import { StepsSection } from "./StepsSection";
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
          <Reasons run={found} />
          <SimpleGrid cols={{ base: 1, md: 2 }}>
            <Section title={t`State`}>
              <StateList run={found} />
            </Section>
            <Section title={t`Options`}>
              <OptionList run={found} />
            </Section>
          </SimpleGrid>
          <Section title={t`Metrics`}>
            <MetricsTable run={found} />
          </Section>
          <ReadingsSection run={found} />
          <FlagsSection run={found} />
          <NotJudgedSection run={found} />
          <CurveSection onShow={onCurves} run={found} shown={curves} />
          <WritersSection run={found} />
          {trend}
          <ForeignSection run={found} />
          <StepsSection run={found} />
          <ArtefactsSection run={found} />
          <EventLog runId={found.id} />
          <Section title={t`Environment`}>
            {Object.keys(found.environment).length > 0 ? (
              <FactsTable facts={found.environment} label={t`Environment`} maxHeight={400} />
            ) : (
              <Text c="dimmed">{t`The agent records it when the run starts.`}</Text>
            )}
          </Section>
          {found.observations.map(({ order_id, node_name, environment }) => (
            <Section key={order_id} title={t`Environment of ${node_name} (monitored)`}>
              <FactsTable facts={environment} label={t`Environment of ${node_name}`} maxHeight={400} />
            </Section>
          ))}
        </Page>
      )}
    </LoadedPage>
  );
}

function Trail({ run }: { run: RunDetail }) {
  return (
    <Trans>
      <CampaignLink id={run.campaign_id} name={run.campaign_name} underline="always" /> · {run.workload} ·
      repeat {run.repeat} · {run.node_names.join(", ")} on {run.target_names.join(", ")}{" "}
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

function StateList({ run }: { run: RunDetail }) {
  const isPublished = useOrigin(run.cluster_id) === "published";
  const never = isPublished ? t`not published` : t`not yet`;
  return (
    <DataList size="sm">
      <Definition label={t`State`}>
        <RunState run={run} />
      </Definition>
      {run.state === "finished" && <Definition label={t`Validity`}>{validityWords(run)}</Definition>}
      <Definition label={t`Started`}>{run.started_at ? <When at={run.started_at} /> : never}</Definition>
      <Definition label={t`Ended`}>
        {run.ended_at && !isPublished ? <When at={run.ended_at} /> : never}
      </Definition>
      {run.variant && <Definition label={t`Variant`}>{run.variant}</Definition>}
      <Definition label={t`Attempts`}>{run.attempts_made}</Definition>
      <BatchJob run={run} />
    </DataList>
  );
}

function BatchJob({ run }: { run: RunDetail }) {
  const job = run.attempts.at(-1)?.batch_job;
  if (!job) return null;
  const said = job.words ? ` (${job.words})` : "";
  return (
    <Definition label={job.system === "slurm" ? t`Slurm job` : t`LSF job`}>
      {job.job_id ?? t`to be submitted`}: {job.ending ?? job.state}
      {said}
    </Definition>
  );
}

function OptionList({ run }: { run: RunDetail }) {
  const titleOf = useTitlesOf()(run.workload);
  const options = Object.entries(run.options);
  if (options.length === 0) return <Text c="dimmed">{t`All options have default values.`}</Text>;
  return (
    <DataList size="sm" vars={() => ({ root: { "--data-list-label-width": "10rem" } })}>
      {options.map(([name, value]) => (
        <Definition key={name} label={titleOf(name)}>
          {optionValue(name, value)}
        </Definition>
      ))}
    </DataList>
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
    <Section title={t`Log`}>
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
    </Section>
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
