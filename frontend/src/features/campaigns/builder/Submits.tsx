/** Submits the plan or saves it as a schedule. */

import { t } from "@lingui/core/macro";
import { Button } from "@mantine/core";
import { useMutation } from "@tanstack/react-query";
import type { Campaign, CampaignPlan } from "@/api/types";
import { ErrorNotice } from "@/components/Page";
import { useMayRun } from "@/components/session";
import { submitCampaign } from "../queries";
import { type StoredSchedule, scheduleOf } from "./calendar";
import type { Draft } from "./draft";
import type { ScheduleSaving } from "./scheduleName";
import type { BuilderStep } from "./steps";

interface SubmitsProps {
  readonly clusterId: number;
  readonly draft: Pick<Draft, "repeat" | "window">;
  /** Undefined while the draft is incomplete. */
  readonly plan: CampaignPlan | undefined;
  readonly idempotencyKey: string;
  /** The schedule to replace; undefined creates one. */
  readonly schedule: StoredSchedule | undefined;
  readonly scheduleName: string;
  readonly save: ScheduleSaving;
  readonly step: BuilderStep;
  readonly forget: () => void;
  readonly onSubmitted: (campaign: Campaign) => void;
  readonly onScheduled: () => void;
}

export function Submits(props: SubmitsProps) {
  return props.draft.repeat.when === "now" ? <CampaignSubmit {...props} /> : <ScheduleSubmit {...props} />;
}

function CampaignSubmit({ clusterId, plan, idempotencyKey, forget, onSubmitted, step }: SubmitsProps) {
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
        variant={variantOf(step)}
      >
        {mayRun ? t`Submit campaign` : t`You need the operator role in a cluster with nodes of its own`}
      </Button>
    </>
  );
}

function ScheduleSubmit({ clusterId, plan, draft, schedule, scheduleName, ...props }: SubmitsProps) {
  const { save, step, forget, onScheduled } = props;
  const mayRun = useMayRun(clusterId);
  const body = plan && scheduleOf(plan, draft, scheduleName);
  const label = schedule === undefined ? t`Create schedule` : t`Save schedule`;
  function done(): void {
    forget();
    onScheduled();
  }
  return (
    <>
      {save.error && !(step === "when" && save.isNameTaken) && <ErrorNotice error={save.error} />}
      <Button
        disabled={!body || !mayRun}
        loading={save.isPending}
        onClick={() => body && save.mutate({ body, scheduleId: schedule?.id }, { onSuccess: done })}
        variant={variantOf(step)}
      >
        {mayRun ? label : t`You need the operator role in a cluster with nodes of its own`}
      </Button>
    </>
  );
}

function variantOf(step: BuilderStep): "default" | "filled" {
  return step === "what" ? "default" : "filled";
}
