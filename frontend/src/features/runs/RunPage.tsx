/** One run: what it measured, exactly how, and what a sceptic must know about it. */

import { Alert, Button, DataList, SimpleGrid, Text } from "@mantine/core";
import { useMutation, useQuery } from "@tanstack/react-query";
import type { RunDetail } from "@/api/types";
import { ConfirmButton } from "@/components/ConfirmButton";
import { Definition } from "@/components/Definition";
import { FactsTable } from "@/components/FactsTable";
import { LoadedPage } from "@/components/LoadedPage";
import { TextLink } from "@/components/links";
import { MadeUpBadge } from "@/components/MadeUp";
import { useTitlesOf } from "@/components/optionTitles";
import { Page, Section } from "@/components/Page";
import { useMay } from "@/components/session";
import { When } from "@/components/When";
import { optionValue } from "@/lib/options";
import { ArtefactsSection } from "./ArtefactsSection";
import { CurveSection } from "./CurveSection";
import { EventLog } from "./EventLog";
import { FlagsSection } from "./FlagsSection";
import { ForeignSection } from "./ForeignSection";
import { MetricsTable } from "./MetricsTable";
import { cancelRun, retryRun, runQuery } from "./queries";
import { ReadingsSection } from "./ReadingsSection";
import { RunState } from "./RunsTable";
import { StepsSection } from "./StepsSection";
import { WaitNotice } from "./WaitNotice";

interface RunPageProps {
  readonly runId: number;
  /** Groups of counters whose curves are shown. */
  readonly curves: readonly string[] | undefined;
  readonly onCurves: (keys: readonly string[]) => void;
}

export function RunPage({ runId, curves, onCurves }: RunPageProps) {
  const run = useQuery(runQuery(runId));
  return (
    <LoadedPage query={run} title={`Run ${runId}`}>
      {(found) => (
        <Page actions={<Actions run={found} />} title={`Run ${found.id}`} trail={<Trail run={found} />}>
          <Reasons run={found} />
          <SimpleGrid cols={{ base: 1, md: 2 }}>
            <Section title="State">
              <StateList run={found} />
            </Section>
            <Section title="Options">
              <OptionList run={found} />
            </Section>
          </SimpleGrid>
          <Section title="Metrics">
            <MetricsTable run={found} />
          </Section>
          <ReadingsSection run={found} />
          {found.flags.length > 0 && <FlagsSection run={found} />}
          <ForeignSection run={found} />
          <StepsSection run={found} />
          <CurveSection onShow={onCurves} run={found} shown={curves} />
          <ArtefactsSection run={found} />
          <EventLog runId={found.id} />
          <Section title="Environment">
            {Object.keys(found.environment).length > 0 ? (
              <FactsTable facts={found.environment} label="Environment" maxHeight={400} />
            ) : (
              <Text c="dimmed">It is read on the node when the run starts.</Text>
            )}
          </Section>
          {found.observations.map(({ order_id, node_name, environment }) => (
            <Section key={order_id} title={`Environment of ${node_name}, which was watched`}>
              <FactsTable facts={environment} label={`Environment of ${node_name}`} maxHeight={400} />
            </Section>
          ))}
        </Page>
      )}
    </LoadedPage>
  );
}

function Trail({ run }: { run: RunDetail }) {
  return (
    <>
      <TextLink params={{ campaignId: run.campaign_id }} to="/campaigns/$campaignId" underline="always">
        {run.campaign_name}
      </TextLink>{" "}
      · {run.workload} · repeat {run.repeat} · {run.node_names.join(", ")} on {run.target_names.join(", ")}{" "}
      <MadeUpBadge clusterId={run.cluster_id} />
    </>
  );
}

function Reasons({ run }: { run: RunDetail }) {
  return (
    <>
      {run.reason && (
        <Alert
          color={run.state === "failed" ? "red" : "orange"}
          title={run.reason_code ?? run.state}
          variant="light"
        >
          {run.reason}
        </Alert>
      )}
      {run.waiting_because && <WaitNotice run={run} />}
    </>
  );
}

function StateList({ run }: { run: RunDetail }) {
  return (
    <DataList size="sm">
      <Definition label="State">
        <RunState run={run} />
      </Definition>
      {run.state === "finished" && <Definition label="Validity">{run.validity}</Definition>}
      <Definition label="Started">{run.started_at ? <When at={run.started_at} /> : "not yet"}</Definition>
      <Definition label="Ended">{run.ended_at ? <When at={run.ended_at} /> : "not yet"}</Definition>
      {run.variant && <Definition label="Variant">{run.variant}</Definition>}
      <Definition label="Attempts">{run.attempts_made}</Definition>
      <BatchJob run={run} />
    </DataList>
  );
}

function BatchJob({ run }: { run: RunDetail }) {
  const job = run.attempts.at(-1)?.batch_job;
  if (!job) return null;
  const said = job.words ? ` (${job.words})` : "";
  return (
    <Definition label={job.system === "slurm" ? "Slurm job" : "LSF job"}>
      {job.job_id ?? "to be submitted"}: {job.ending ?? job.state}
      {said}
    </Definition>
  );
}

function OptionList({ run }: { run: RunDetail }) {
  const titleOf = useTitlesOf()(run.workload);
  const options = Object.entries(run.options);
  if (options.length === 0) return <Text c="dimmed">All at their defaults.</Text>;
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
  const cancel = useMutation(cancelRun);
  const retry = useMutation(retryRun);
  const mayOperate = useMay("operator", run.cluster_id);
  if (!mayOperate) return null;
  const canCancel = run.state === "waiting" || run.state === "active";
  const canRetry = run.state === "failed" || run.state === "cancelled";
  return (
    <>
      {canCancel && (
        <ConfirmButton
          loading={cancel.isPending}
          onConfirm={() => cancel.mutate(run.id)}
          question={{
            title: `Cancel run ${run.id}?`,
            body: "A load that runs is stopped and its files are removed.",
            yes: "Cancel the run",
            no: "Let it run",
          }}
        >
          Cancel
        </ConfirmButton>
      )}
      {canRetry && (
        <Button loading={retry.isPending} onClick={() => retry.mutate(run.id)} variant="default">
          Run again
        </Button>
      )}
    </>
  );
}
