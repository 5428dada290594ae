/** What a run that loads moves just now, and how that went in the last minutes. */

import { t } from "@lingui/core/macro";
import { Group, Text } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { Quantity } from "@/components/values";
import { type LiveLine, liveLines, sparkline } from "./live";
import { liveQuery } from "./queries";

const WIDTH = 120;
const HEIGHT = 24;

/** Nothing as long as no second of it is known. */
export function LiveThroughput({ runId }: { runId: number }) {
  const { data } = useQuery(liveQuery(runId));
  const lines = liveLines(data ?? []);
  return lines.map((line) => <Line key={line.direction} line={line} runId={runId} />);
}

function Line({ line, runId }: { line: LiveLine; runId: number }) {
  const { direction, values, latest } = line;
  const label = t`${direction} throughput of run ${runId} over ${values.length} s`;
  return (
    <Group gap={6} wrap="nowrap">
      <svg aria-label={label} height={HEIGHT} role="img" width={WIDTH}>
        <path
          d={sparkline(values, { width: WIDTH, height: HEIGHT })}
          fill="none"
          stroke="var(--mantine-color-tide-6)"
          strokeWidth={1.5}
        />
      </svg>
      <Text c="dimmed" miw="max-content" size="xs">
        {direction} <Quantity unit="bytes_per_second" value={latest} />
      </Text>
    </Group>
  );
}
