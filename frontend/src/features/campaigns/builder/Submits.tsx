/** Submits the plan or saves it as a schedule. */

import { t } from "@lingui/core/macro";
import { Button } from "@mantine/core";
import { useMutation } from "@tanstack/react-query";
import type { Campaign, CampaignPlan } from "@/api/types";
import { ErrorNotice } from "@/components/Page";
import { useMayRun } from "@/components/session";
import { submitCampaign } from "../queries";
import { saveSchedule } from "../schedules/queries";
import { type StoredSchedule, scheduleOf } from "./calendar";
import type { Draft } from "./draft";

interface SubmitsProps {
  readonly clusterId: number;
  readonly draft: Pick<Draft, "repeat" | "window">;
  /** Undefined while the draft is incomplete. */
  readonly plan: CampaignPlan | undefined;
  readonly idempotencyKey: string;
  /** The schedule to replace; undefined creates one. */
  readonly schedule: StoredSchedule | undefined;
  readonly forget: () => void;
  readonly onSubmitted: (campaign: Campaign) => void;
  readonly onScheduled: () => void;
  readonly variant: "default" | "filled";
}

export function Submits(props: SubmitsProps) {
  return props.draft.repeat.when === "now" ? <CampaignSubmit {...props} /> : <ScheduleSubmit {...props} />;
}

function CampaignSubmit({ clusterId, plan, idempotencyKey, forget, onSubmitted, variant }: SubmitsProps) {
  const submit = useMutation(submitCampaign);
  const mayRun = useMayRun(clusterId);
  function done(campaign: Campaign): void {
    forget();
    onSubmitted(campaign);
  }
  return (
    <>
      {submit.error && <ErrorNotice error={submit.error} />}
      <Button
        disabled={!plan || !mayRun}
        loading={submit.isPending}
        onClick={() => plan && submit.mutate({ plan, idempotencyKey }, { onSuccess: done })}
        variant={variant}
      >
        {mayRun ? t`Submit campaign` : t`You need the operator role in a cluster with nodes of its own`}
      </Button>
    </>
  );
}

function ScheduleSubmit({ clusterId, plan, draft, schedule, forget, onScheduled, variant }: SubmitsProps) {
  const save = useMutation(saveSchedule);
  const mayRun = useMayRun(clusterId);
  const body = plan && scheduleOf(plan, draft, schedule);
  const label = schedule === undefined ? t`Create schedule` : t`Save schedule`;
  function done(): void {
    forget();
    onScheduled();
  }
  return (
    <>
      {save.error && <ErrorNotice error={save.error} />}
      <Button
        disabled={!body || !mayRun}
        loading={save.isPending}
        onClick={() => body && save.mutate({ body, scheduleId: schedule?.id }, { onSuccess: done })}
        variant={variant}
      >
        {mayRun ? label : t`You need the operator role in a cluster with nodes of its own`}
      </Button>
    </>
  );
}
