/** Where a page needs a cluster and there is none. */

import { Stack, Text } from "@mantine/core";
import { ButtonLink } from "@/components/links";

export function NoCluster() {
  return (
    <Stack align="flex-start">
      <Text>There is no cluster yet.</Text>
      <ButtonLink to="/">Make one on the overview</ButtonLink>
    </Stack>
  );
}
