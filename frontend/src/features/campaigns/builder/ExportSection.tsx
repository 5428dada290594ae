/** The same plan for the command line. */

import { Button, Stack, Text } from "@mantine/core";
import type { CampaignPlan } from "@/api/types";
import { Command } from "@/components/Command";
import { Section } from "@/components/Page";
import { planAsCurl, planAsYaml } from "./export";

export function ExportSection({ plan, idempotencyKey }: { plan: CampaignPlan; idempotencyKey: string }) {
  return (
    <Section description="The same campaign without a browser." title="As a file or a request">
      <Stack gap="xs">
        <Text size="sm">YAML, for iotide campaign submit FILE.yaml</Text>
        <Command label="Copy YAML" maxHeight={240} text={planAsYaml(plan)} />
        <DownloadYaml plan={plan} />
        <Text size="sm">curl</Text>
        <Command
          label="Copy curl command"
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
    >
      Download YAML
    </Button>
  );
}
