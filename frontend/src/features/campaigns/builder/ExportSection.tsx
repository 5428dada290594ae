/** The same plan for the command line. */

import { t } from "@lingui/core/macro";
import { Button, Stack, Text } from "@mantine/core";
import type { CampaignPlan } from "@/api/types";
import { Command } from "@/components/Command";
import { Section } from "@/components/Page";
import { planAsCurl, planAsYaml } from "./export";

export function ExportSection({ plan, idempotencyKey }: { plan: CampaignPlan; idempotencyKey: string }) {
  return (
    <Section description={t`The same campaign without a browser.`} title={t`As a file or a request`}>
      <Stack gap="xs">
        <Text size="sm">{t`YAML, for iotide campaign submit FILE.yaml`}</Text>
        <Command label={t`Copy YAML`} maxHeight={240} text={planAsYaml(plan)} />
        <DownloadYaml plan={plan} />
        <Text size="sm">{t`curl`}</Text>
        <Command
          label={t`Copy curl command`}
          maxHeight={240}
          text={planAsCurl(plan, location.origin, idempotencyKey)}
        />
      </Stack>
    </Section>
  );
}

function DownloadYaml({ plan }: { plan: CampaignPlan }) {
  return (
    <Button
      component="a"
      download={`${plan.name}.yaml`}
      href={`data:application/yaml;charset=utf-8,${encodeURIComponent(planAsYaml(plan))}`}
      size="xs"
      variant="default"
      w="fit-content"
    >{t`Download YAML`}</Button>
  );
}
