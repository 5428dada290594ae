import { t } from "@lingui/core/macro";
import { Trans } from "@lingui/react/macro";
import { Alert, DataList, List, Stack, Text } from "@mantine/core";
import type { Preview } from "@/api/types";
import { Definition } from "@/components/Definition";
import { ErrorNotice, Section } from "@/components/Page";
import { Quantity } from "@/components/values";
import { formatEstimate } from "@/lib/units";

interface PreviewPanelProps {
  readonly missing: readonly string[];
  readonly preview: Preview | undefined;
  readonly error: Error | null;
  readonly isFetching: boolean;
}

export function PreviewPanel({ missing, preview, error, isFetching }: PreviewPanelProps) {
  return (
    <Section title={t`Preview`}>
      <Stack aria-busy={isFetching} aria-live="polite" gap="sm">
        {missing.map((text) => (
          <Text key={text} size="sm">
            {text}
          </Text>
        ))}
        {error && missing.length === 0 && <ErrorNotice error={error} />}
        {preview && missing.length === 0 && !error && <PreviewBody preview={preview} />}
      </Stack>
    </Section>
  );
}

function PreviewBody({ preview }: { preview: Preview }) {
  return (
    <>
      <DataList size="sm">
        <Definition label={t`Matrix`}>
          {preview.cell_count} {preview.cell_count === 1 ? t`configuration` : t`configurations`},{" "}
          {preview.run_count} {preview.run_count === 1 ? t`run` : t`runs`}
        </Definition>
        <Definition label={t`Time`}>
          {preview.seconds_estimated === null
            ? t`unknown: ${preview.seconds_unknown_because ?? t`no rate is known yet`}`
            : t`about ${formatEstimate(preview.seconds_estimated)}`}
        </Definition>
        <Definition label={t`Maximum space`}>
          <Quantity unit="bytes" value={preview.bytes_peak} />
        </Definition>
        <Definition label={t`Data moved`}>
          <Quantity unit="bytes" value={preview.bytes_moved} />
        </Definition>
        {preview.wear.map((wear) => (
          <Definition key={wear.target_name} label={t`Written to ${wear.target_name}`}>
            <Written wear={wear} />
          </Definition>
        ))}
      </DataList>
      <Warnings preview={preview} />
    </>
  );
}

/** Bytes written to flash: at least the files of all runs, at most all data moved. */
function Written({ wear: { bytes_least: least, bytes_most: most } }: { wear: Preview["wear"][number] }) {
  if (most === null)
    return (
      <Trans>
        at least <Quantity unit="bytes" value={least} />; time-based runs have no upper limit
      </Trans>
    );
  if (most === least) return <Quantity unit="bytes" value={least} />;
  return (
    <Trans>
      <Quantity unit="bytes" value={least} /> to <Quantity unit="bytes" value={most} />
    </Trans>
  );
}

/** Several workloads may have the same warning: show it once. */
function Warnings({ preview: { warnings } }: { preview: Preview }) {
  if (warnings.length === 0) return null;
  return (
    <Alert color="orange" p="xs">
      <List size="sm">
        {[...new Set(warnings.map(({ message }) => message))].map((message) => (
          <List.Item key={message}>{message}</List.Item>
        ))}
      </List>
    </Alert>
  );
}
