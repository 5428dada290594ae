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

export function NotFound() {
  return (
    <Center component="main" mih="60vh">
      <Stack align="center">
        <Title order={1} size="h2">{t`Page not found`}</Title>
        <Text>{t`Check the address. It may be mistyped or point to something that does not exist.`}</Text>
        <ButtonLink to="/">{t`Go to overview`}</ButtonLink>
      </Stack>
    </Center>
  );
}
