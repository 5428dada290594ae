/** An address that leads nowhere. */

import { Center, Stack, Text, Title } from "@mantine/core";
import { ButtonLink } from "@/components/links";

export function NotFound() {
  return (
    <Center component="main" mih="60vh">
      <Stack align="center">
        <Title order={1} size="h2">
          There is nothing here
        </Title>
        <Text>The address may be mistyped, or what it named was never made.</Text>
        <ButtonLink to="/">To the overview</ButtonLink>
      </Stack>
    </Center>
  );
}
