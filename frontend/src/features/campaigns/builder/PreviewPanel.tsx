/** What the plan comes to before anything runs: the matrix, its time and its space, and what a sceptic would say. */

import { Alert, DataList, Stack, Text } from "@mantine/core";
import type { Preview } from "@/api/types";
import { Definition } from "@/components/Definition";
import { ErrorNotice } from "@/components/ErrorNotice";
import { useDescriber } from "@/components/optionTitles";
import { Section } from "@/components/Page";
import { Place } from "@/components/Place";
import { Quantity } from "@/components/Quantity";
import { ScrollTable } from "@/components/ScrollTable";
import { formatDuration } from "@/lib/units";

interface PreviewPanelProps {
  readonly missing: readonly string[];
  readonly preview: Preview | undefined;
  readonly error: Error | null;
  readonly isFetching: boolean;
}

export function PreviewPanel({ missing, preview, error, isFetching }: PreviewPanelProps) {
  return (
    <Section title="Preview">
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
        <Definition label="Matrix">
          {preview.cell_count} {preview.cell_count === 1 ? "cell" : "cells"}, {preview.run_count}{" "}
          {preview.run_count === 1 ? "run" : "runs"}
        </Definition>
        <Definition label="Time">
          {preview.seconds_estimated === null
            ? `unknown: ${preview.seconds_unknown_because ?? "no rate is known yet"}`
            : `about ${formatDuration(preview.seconds_estimated)}`}
        </Definition>
        <Definition label="Space at most">
          <Quantity unit="bytes" value={preview.bytes_peak} />
        </Definition>
        <Definition label="Moved in all">
          <Quantity unit="bytes" value={preview.bytes_moved} />
        </Definition>
      </DataList>
      <Warnings preview={preview} />
      <Matrix preview={preview} />
    </>
  );
}

/** One notice a sentence, however many workloads it is about. */
function Warnings({ preview: { warnings } }: { preview: Preview }) {
  return [...new Set(warnings.map(({ message }) => message))].map((message) => (
    <Alert color="orange" key={message} p="xs" variant="light">
      {message}
    </Alert>
  ));
}

function Matrix({ preview }: { preview: Preview }) {
  const { cells, cell_count } = preview;
  const describeCell = useDescriber(cells);
  return (
    <>
      <ScrollTable head={["Node and target", "Workload", "Options"]} label="Run matrix" maxHeight={320}>
        {cells.map((cell) => (
          <tr key={cell.ordinal}>
            <td className="iotide-name">
              <Place of={cell} />
              {cell.sender_name && (
                <Text c="dimmed" size="xs">
                  {cell.sender_name} sends
                </Text>
              )}
              {cell.observer_names.length > 0 && (
                <Text c="dimmed" size="xs">
                  watching {cell.observer_names.join(", ")}
                </Text>
              )}
            </td>
            <td>{cell.workload}</td>
            <td className="iotide-wrap">{describeCell(cell)}</td>
          </tr>
        ))}
      </ScrollTable>
      {cells.length < cell_count && (
        <Text c="dimmed" size="xs">
          The first {cells.length} of {cell_count} cells.
        </Text>
      )}
    </>
  );
}
