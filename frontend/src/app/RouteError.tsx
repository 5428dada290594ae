/** A page that could not be opened, with a way on. */

import { t } from "@lingui/core/macro";
import { Box, Center, Stack, Text, Title } from "@mantine/core";
import type { ErrorComponentProps } from "@tanstack/react-router";
import { ButtonLink } from "@/components/links";
import { ErrorNotice } from "@/components/Page";

export function RouteError({ error }: ErrorComponentProps) {
  return (
    <Box maw={640} mx="auto" p="xl">
      <ErrorNotice
        error={error instanceof Error ? error : new Error(String(error))}
        onRetry={() => location.reload()}
      />
    </Box>
  );
}

/** An address that leads nowhere. */
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
