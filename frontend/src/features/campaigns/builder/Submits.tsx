/** Submits the plan or saves it as a schedule, and shows the same as YAML and curl. */

import { t } from "@lingui/core/macro";
import { Button, Stack, Text } from "@mantine/core";
import { useMutation } from "@tanstack/react-query";
import { type ReactNode, useState } from "react";
import type { Campaign, CampaignPlan, SchedulePlan } from "@/api/types";
import { Command } from "@/components/Command";
import { ErrorNotice, Section } from "@/components/Page";
import { useMay } from "@/components/session";
import { randomKey } from "@/lib/keys";
import { submitCampaign } from "../queries";
import { saveSchedule } from "../schedules/queries";
import { calendarOf, type Repeat, type StoredSchedule } from "./calendar";
import { planAsCurl, planAsYaml, scheduleAsCurl, scheduleAsYaml } from "./export";

interface SubmitsProps {
  readonly clusterId: number;
  /** Undefined while the draft is incomplete. */
  readonly plan: CampaignPlan | undefined;
  readonly repeat: Repeat;
  /** The schedule to replace; undefined creates one. */
  readonly schedule: StoredSchedule | undefined;
  readonly forget: () => void;
  readonly onSubmitted: (campaign: Campaign) => void;
  readonly onScheduled: () => void;
}

export function Submits({ clusterId, plan, repeat, schedule, forget, ...props }: SubmitsProps) {
  function done(notify: () => void): void {
    forget();
    notify();
  }
  if (repeat.when === "now")
    return (
      <CampaignSubmit
        clusterId={clusterId}
        onSubmitted={(campaign) => done(() => props.onSubmitted(campaign))}
        plan={plan}
      />
    );
  const calendar = calendarOf(repeat);
  const body = plan &&
    calendar && { name: schedule?.name ?? plan.name, ...calendar, missed: repeat.missed, plan };
  return (
    <ScheduleSubmit
      body={body}
      clusterId={clusterId}
      onSaved={() => done(props.onScheduled)}
      scheduleId={schedule?.id}
    />
  );
}

function CampaignSubmit({
  clusterId,
  plan,
  onSubmitted,
}: Pick<SubmitsProps, "clusterId" | "plan" | "onSubmitted">) {
  const submit = useMutation(submitCampaign);
  const idempotencyKey = useKeyOf(plan);
  const maySubmit = useMay("operator", clusterId);
  return (
    <>
      {submit.error && <ErrorNotice error={submit.error} />}
      <Button
        disabled={!plan || !maySubmit}
        loading={submit.isPending}
        onClick={() => plan && submit.mutate({ plan, idempotencyKey }, { onSuccess: onSubmitted })}
        size="md"
      >
        {maySubmit ? t`Submit campaign` : t`You need the operator role to submit`}
      </Button>
      {plan && (
        <AsFile
          curl={planAsCurl(plan, location.origin, idempotencyKey)}
          description={t`Submit the same campaign without a browser.`}
          file={t`YAML, for iotide campaign submit FILE.yaml`}
          yaml={planAsYaml(plan)}
        >
          <Button
            component="a"
            download={`${plan.name}.yaml`}
            href={`data:application/yaml;charset=utf-8,${encodeURIComponent(planAsYaml(plan))}`}
            size="xs"
            variant="default"
            w="fit-content"
          >{t`Download YAML`}</Button>
        </AsFile>
      )}
    </>
  );
}

/**
 * Return an idempotency key that is fixed for a plan, so that a second click or a retry creates no second campaign.
 */
function useKeyOf(plan: CampaignPlan | undefined): string {
  const text = JSON.stringify(plan ?? null);
  const [kept, setKept] = useState({ text, key: randomKey() });
  if (kept.text === text) return kept.key;
  const fresh = { text, key: randomKey() };
  setKept(fresh);
  return fresh.key;
}

interface ScheduleSubmitProps {
  readonly clusterId: number;
  readonly scheduleId: number | undefined;
  readonly body: SchedulePlan | undefined;
  readonly onSaved: () => void;
}

function ScheduleSubmit({ clusterId, scheduleId, body, onSaved }: ScheduleSubmitProps) {
  const save = useMutation(saveSchedule);
  const maySave = useMay("operator", clusterId);
  const label = scheduleId === undefined ? t`Create schedule` : t`Save schedule`;
  return (
    <>
      {save.error && <ErrorNotice error={save.error} />}
      <Button
        disabled={!body || !maySave}
        loading={save.isPending}
        onClick={() => body && save.mutate({ body, scheduleId }, { onSuccess: onSaved })}
        size="md"
      >
        {maySave ? label : t`You need the operator role to create schedules`}
      </Button>
      {body && (
        <AsFile
          curl={scheduleAsCurl(body, location.origin)}
          description={t`Create the same schedule without a browser.`}
          file={t`YAML, for iotide schedule submit FILE.yaml`}
          yaml={scheduleAsYaml(body)}
        />
      )}
    </>
  );
}

interface AsFileProps {
  readonly description: string;
  /** Names the command that takes the file. */
  readonly file: string;
  readonly yaml: string;
  readonly curl: string;
  readonly children?: ReactNode;
}

function AsFile({ description, file, yaml, curl, children }: AsFileProps) {
  return (
    <Section description={description} title={t`Plan as YAML or curl`}>
      <Stack gap="xs">
        <Text size="sm">{file}</Text>
        <Command label={t`Copy YAML`} maxHeight={240} text={yaml} />
        {children}
        <Text size="sm">{t`curl`}</Text>
        <Command label={t`Copy curl command`} maxHeight={240} text={curl} />
      </Stack>
    </Section>
  );
}
