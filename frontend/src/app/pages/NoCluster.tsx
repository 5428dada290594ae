/** Where a page needs a cluster and there is none. */

import { t } from "@lingui/core/macro";
import { Stack, Text } from "@mantine/core";
import { ButtonLink } from "@/components/links";

export function NoCluster() {
  return (
    <Stack align="flex-start">
      <Text>{t`There is no cluster yet.`}</Text>
      <ButtonLink to="/">{t`Make one on the overview`}</ButtonLink>
    </Stack>
  );
}
