/** An address that leads nowhere. */

import { t } from "@lingui/core/macro";
import { Center, Stack, Text, Title } from "@mantine/core";
import { ButtonLink } from "@/components/links";

export function NotFound() {
  return (
    <Center component="main" mih="60vh">
      <Stack align="center">
        <Title order={1} size="h2">{t`There is nothing here`}</Title>
        <Text>{t`The address may be mistyped, or what it named was never made.`}</Text>
        <ButtonLink to="/">{t`To the overview`}</ButtonLink>
      </Stack>
    </Center>
  );
}
