/** What went wrong and what to do about it, in the server's own words. */

import { t } from "@lingui/core/macro";
import { Alert, Button, Code, Group, Text } from "@mantine/core";
import { ApiError } from "@/api/errors";
import { Icon } from "./Icon";

export function ErrorNotice({ error, onRetry }: { error: Error; onRetry?: () => void }) {
  return (
    <Alert color="red" icon={<Icon name="alert" />} role="alert" title={error.message}>
      {error instanceof ApiError && <Remedy error={error} />}
      {onRetry && (
        <Button color="red" mt="sm" onClick={onRetry} size="xs" variant="outline">{t`Try again`}</Button>
      )}
    </Alert>
  );
}

function Remedy({ error }: { error: ApiError }) {
  return (
    <Group gap="xs">
      {error.remedy && <Text size="sm">{error.remedy}</Text>}
      <Code>{error.code}</Code>
      {/* A fault of the server: whoever is asked for help finds its lines of log by this. */}
      {error.status >= 500 && error.requestId && <Code>{t`request ${error.requestId}`}</Code>}
    </Group>
  );
}
