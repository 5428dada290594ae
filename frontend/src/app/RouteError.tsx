/** A page that could not be opened, with a way on. */

import { Box } from "@mantine/core";
import type { ErrorComponentProps } from "@tanstack/react-router";
import { ErrorNotice } from "@/components/ErrorNotice";

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
