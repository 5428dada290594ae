/** Status of one workload in a cluster: state, small chart and one line. The whole cell links to the trend. */

import { t } from "@lingui/core/macro";
import type { BoardCell } from "@/api/types";
import { TextLink } from "@/components/links";
import { CURVE, curveOf } from "./curve";
import { STATE_WORDS, shareOf } from "./standings";

interface StatusCellProps {
  readonly cell: BoardCell;
  readonly periodSeconds: number;
}

export function StatusCell({ cell, periodSeconds }: StatusCellProps) {
  const { cluster_id: clusterId, workload, state, worst, since_cell_id: since, line, suspects } = cell;
  const { sign, word, color } = STATE_WORDS[state];
  const marked = [line, suspects > 0 && t`${suspects} suspect`].filter(Boolean).join(", ");
  return (
    <TextLink
      className="iotide-status"
      data-bad={color !== "gray" || undefined}
      data-state={state}
      params={{ clusterId }}
      search={{ workload, metric: worst.metric, series: [worst.id], cell: since ?? undefined }}
      to="/clusters/$clusterId/trend"
      underline="never"
    >
      <span className="iotide-status-head">
        <strong>{workload}</strong>{" "}
        <span>
          <span aria-hidden="true">{sign}</span> {word}
        </span>{" "}
        <small>{shareOf(cell)}</small>
      </span>
      <span className="iotide-status-body">
        <StatusCurve cell={cell} periodSeconds={periodSeconds} />
        <span className="iotide-status-line">{marked}</span>
      </span>
    </TextLink>
  );
}

function StatusCurve({ cell: { trend }, periodSeconds }: StatusCellProps) {
  const curve = trend.medians.length > 1 && curveOf(trend, periodSeconds);
  if (!curve) return null;
  return (
    <svg
      aria-hidden="true"
      className="iotide-curve"
      preserveAspectRatio="none"
      viewBox={`0 0 ${CURVE.width} ${CURVE.height}`}
    >
      {curve.changes.map((x) => (
        <line className="iotide-curve-change" key={x} x1={x} x2={x} y1={0} y2={CURVE.height} />
      ))}
      {curve.parts.map((points) => (
        <polyline key={points} points={points} />
      ))}
      {curve.levels.map((level) => (
        <line className="iotide-curve-level" key={level.x1} {...level} />
      ))}
    </svg>
  );
}
