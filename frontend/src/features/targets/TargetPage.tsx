import { t } from "@lingui/core/macro";
import { Trans } from "@lingui/react/macro";
import { Badge, Stack } from "@mantine/core";
import { useMutation, useQuery } from "@tanstack/react-query";
import { lazy, type ReactNode } from "react";
import type { Target } from "@/api/types";
import { DrainNote } from "@/components/drain/DrainButton";
import { useDrainAction } from "@/components/drain/useDrainAction";
import { Problem } from "@/components/looks";
import { ManageMenu } from "@/components/ManageMenu";
import { Loaded, LoadedPage, Page } from "@/components/Page";
import { PlaceTrail } from "@/components/Place";
import { StatusLine } from "@/components/StatusLine";
import { StuckNote } from "@/components/StuckNote";
import { useMay } from "@/components/session";
import { When } from "@/components/values";
import { retireTarget, targetFactsQuery, targetQuery } from "./queries";
import { AllFacts, Known } from "./TargetSections";

const ConfirmModal = lazy(() => import("@/components/ConfirmModal"));

interface TargetPageProps {
  readonly targetId: number;
  /** Rendered by other features. */
  readonly status: (target: Target) => ReactNode;
  readonly trends: (target: Target) => ReactNode;
  readonly links: (target: Target) => ReactNode;
  readonly advice: ReactNode;
  readonly runs: ReactNode;
  readonly history: ReactNode;
}

export function TargetPage({ targetId, advice, runs, history, ...parts }: TargetPageProps) {
  const target = useQuery(targetQuery(targetId));
  const facts = useQuery(targetFactsQuery(targetId));
  return (
    <LoadedPage query={target} title={t`Target ${targetId}`}>
      {(found) => (
        <Page
          actions={
            <>
              {parts.links(found)}
              <Manage target={found} />
            </>
          }
          title={t`Target ${found.name}`}
          trail={<Trail target={found} />}
        >
          <StatusLine>
            <MountState target={found} />
            {parts.status(found)}
          </StatusLine>
          <DrainNote drain={found.drain} />
          <StuckNote loads={found.stuck}>
            {found.scope === "shared"
              ? t`No other run uses this target until the process has ended or an operator frees it on the node's page.`
              : t`No other run uses this target on that node until the process has ended.`}
          </StuckNote>
          {parts.trends(found)}
          {runs}
          {advice}
          <Stack gap="xs">
            <Loaded query={facts}>{(known) => <Known facts={known} target={found} />}</Loaded>
            {history}
            {facts.data && <AllFacts places={facts.data.places} />}
          </Stack>
        </Page>
      )}
    </LoadedPage>
  );
}

/** Whether its nodes can use it, with the problems of those that cannot. */
function MountState({ target: { mounts, retired_at: retiredAt } }: { target: Target }) {
  if (retiredAt) return <Badge color="gray">{t`retired`}</Badge>;
  if (mounts.length === 0) return <Badge color="gray">{t`no mount reported`}</Badge>;
  const broken = mounts.filter(({ problem }) => problem);
  return (
    <>
      <Badge color={broken.length > 0 ? "red" : "green"} miw="max-content">
        {broken.length > 0
          ? t`unusable on ${broken.length} of ${mounts.length} nodes`
          : mounts.length === 1
            ? t`mounted`
            : t`mounted on ${mounts.length} nodes`}
      </Badge>
      {broken.map(({ node_id, node_name, problem }) => (
        <Problem key={node_id}>
          {node_name}: {problem}
        </Problem>
      ))}
    </>
  );
}

function Manage({ target }: { target: Target }) {
  const retire = useMutation(retireTarget);
  const mayOperate = useMay("operator", target.cluster_id);
  const mayRetire = useMay("admin", target.cluster_id);
  const drain = useDrainAction({ kind: "target", id: target.id }, t`target ${target.name}`, target.drain);
  if (target.retired_at) return null;
  const retiring = {
    label: t`Retire`,
    description: t`Removes the target from the cluster for good. Results are kept.`,
    isDestructive: true,
    dialog: (onClose: () => void) => (
      <ConfirmModal
        body={t`The target gets no further runs. Results are kept.`}
        onClose={onClose}
        onConfirm={() => retire.mutate(target.id)}
        title={t`Retire ${target.name}?`}
        yes={t`Retire target`}
      />
    ),
  };
  return <ManageMenu actions={[...(mayOperate ? [drain] : []), ...(mayRetire ? [retiring] : [])]} />;
}

function Trail({ target: { cluster_id: clusterId, scope, retired_at: retiredAt } }: { target: Target }) {
  return (
    <PlaceTrail clusterId={clusterId}>
      · {scope === "shared" ? t`one file system shared by its nodes` : t`private to each node`}{" "}
      {retiredAt && (
        <Trans>
          · retired <When at={retiredAt} />{" "}
        </Trans>
      )}
    </PlaceTrail>
  );
}
