/** Saves the plan with its calendar, as a new schedule or in the place of the one that it was opened from. */

import { t } from "@lingui/core/macro";
import { Button, Text } from "@mantine/core";
import { useMutation } from "@tanstack/react-query";
import type { SchedulePlan } from "@/api/types";
import { Command } from "@/components/Command";
import { ErrorNotice, Section } from "@/components/Page";
import { useMay } from "@/components/session";
import { saveSchedule } from "../schedules/queries";
import { scheduleAsCurl, scheduleAsYaml } from "./export";

interface ScheduleSubmitProps {
  readonly clusterId: number;
  readonly scheduleId: number | undefined;
  /** Undefined while something is missing. */
  readonly body: SchedulePlan | undefined;
  readonly onSaved: () => void;
}

export function ScheduleSubmit({ clusterId, scheduleId, body, onSaved }: ScheduleSubmitProps) {
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
        {maySave ? label : t`Only an operator can make schedules`}
      </Button>
      {body && (
        <Section description={t`The same schedule without a browser.`} title={t`As a file or a request`}>
          <Text mb="xs" size="sm">{t`YAML, for iotide schedule submit FILE.yaml`}</Text>
          <Command label={t`Copy YAML`} maxHeight={240} text={scheduleAsYaml(body)} />
          <Text my="xs" size="sm">{t`curl`}</Text>
          <Command
            label={t`Copy curl command`}
            maxHeight={240}
            text={scheduleAsCurl(body, location.origin)}
          />
        </Section>
      )}
    </>
  );
}
