/** Timeline of the writers of a run. */

import { t } from "@lingui/core/macro";
import { Stack } from "@mantine/core";
import { useMemo } from "react";
import type { RunDetail } from "@/api/types";
import { Fold } from "@/components/Fold";
import { useScheme } from "@/components/preferences";
import { ScrollTable } from "@/components/ScrollTable";
import { Datum, Quantity } from "@/components/values";
import { formatDuration } from "@/lib/units";
import { lanesFigure, lanesHeight } from "@/plots/lanes";
import { Plot } from "@/plots/Plot";
import { type WriterStep, writerLanes, writerSteps } from "./writers";

const HEAD = [t`Writer`, t`Operation`, t`Start`, t`Duration`, t`User`, t`System`, t`Waiting`, t`Rate`];

/** Renders nothing for a single writer. */
export function WritersSection({ run }: { run: RunDetail }) {
  const scheme = useScheme();
  const steps = useMemo(() => writerSteps(run), [run]);
  const { lanes, ...drawn } = useMemo(() => writerLanes(steps), [steps]);
  const figure = useMemo(
    () =>
      lanesFigure(drawn.bars, {
        kinds: drawn.kinds,
        lanes,
        xTitle: t`Time since the first writer started (s)`,
        scheme,
      }),
    [drawn.bars, drawn.kinds, lanes, scheme],
  );
  if (steps.length === 0) return null;
  return (
    <Fold summary={t`one row per writer, timed by the clock of its node`} title={t`Writers`}>
      <Stack>
        <Plot
          figure={figure}
          height={lanesHeight(lanes.length)}
          label={t`${lanes.length} writers over time`}
          viewKey={t`writers ${run.id}`}
        />
        <details>
          <summary>{t`Show table`}</summary>
          <ScrollTable head={HEAD} label={t`Writers`} maxHeight={320}>
            {steps.map((one) => (
              <WriterRow key={`${one.lane} ${one.operation} ${one.second}`} of={one} />
            ))}
          </ScrollTable>
        </details>
      </Stack>
    </Fold>
  );
}

function WriterRow({ of: { lane, operation, second, step, rate } }: { of: WriterStep }) {
  const waitSeconds = Math.max(0, step.wall_seconds - step.user_seconds - step.system_seconds);
  return (
    <tr>
      <td>{lane}</td>
      <td>{operation}</td>
      {[second, step.wall_seconds, step.user_seconds, step.system_seconds, waitSeconds].map(
        (value, column) => (
          // biome-ignore lint/suspicious/noArrayIndexKey: columns never move
          <td key={column}>
            <Datum unit="seconds" value={value}>
              {formatDuration(value)}
            </Datum>
          </td>
        ),
      )}
      <td>{rate && <Quantity unit={rate.unit} value={rate.value} />}</td>
    </tr>
  );
}
