/** The plan, or its schedule, as YAML and curl. */

import { t } from "@lingui/core/macro";
import { Button, Stack, Text } from "@mantine/core";
import type { CampaignPlan } from "@/api/types";
import { Command } from "@/components/Command";
import { scheduleOf } from "./calendar";
import type { Draft } from "./draft";
import { planAsCurl, planAsYaml, scheduleAsCurl, scheduleAsYaml } from "./export";

interface PlanFileProps {
  readonly draft: Pick<Draft, "repeat" | "window">;
  readonly plan: CampaignPlan;
  readonly scheduleName: string;
  readonly idempotencyKey: string;
}

export function PlanFile({ draft, plan, scheduleName, idempotencyKey }: PlanFileProps) {
  const body = scheduleOf(plan, draft, scheduleName);
  const file = body
    ? { yaml: scheduleAsYaml(body), curl: scheduleAsCurl(body, location.origin), noun: "schedule" }
    : {
        yaml: planAsYaml(plan),
        curl: planAsCurl(plan, location.origin, idempotencyKey),
        noun: "campaign",
      };
  return (
    <details>
      <summary>{t`Plan as YAML or curl`}</summary>
      <Stack gap="xs" mt="sm">
        <Text size="sm">{t`YAML, for iotide ${file.noun} submit FILE.yaml`}</Text>
        <Command label={t`Copy YAML`} maxHeight={240} text={file.yaml} />
        <Button
          component="a"
          download={`${plan.name}.yaml`}
          href={`data:application/yaml;charset=utf-8,${encodeURIComponent(file.yaml)}`}
          size="xs"
          variant="default"
          w="fit-content"
        >{t`Download YAML`}</Button>
        <Text size="sm">{t`curl`}</Text>
        <Command label={t`Copy curl command`} maxHeight={240} text={file.curl} />
      </Stack>
    </details>
  );
}
