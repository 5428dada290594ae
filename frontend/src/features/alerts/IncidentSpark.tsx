/** The worst series of an incident as a small line, with the incident shaded. */

import { t } from "@lingui/core/macro";
import type { Incident, Points } from "@/api/types";
import { sparkPath, sparkSpan } from "./spark";

const SIZE = { width: 120, height: 28, inset: 3 } as const;

export function IncidentSpark({ incident, points }: { incident: Incident; points: Points | undefined }) {
  if (!points || points.at.length < 2) return null;
  const span = sparkSpan(points.at, incident.at, incident.ended_at, SIZE);
  return (
    <svg
      aria-label={t`Last ${points.at.length} points of ${points.series.title}, incident shaded`}
      className="iotide-sparkline"
      height={SIZE.height}
      role="img"
      viewBox={`0 0 ${SIZE.width} ${SIZE.height}`}
      width={SIZE.width}
    >
      <rect fill={SHADES[incident.kind]} height={SIZE.height} opacity={0.25} width={span.width} x={span.x} />
      <polyline fill="none" points={sparkPath(points.at, points.median, SIZE)} stroke="currentColor" />
    </svg>
  );
}

const SHADES: Readonly<Record<Incident["kind"], string>> = {
  worse: "var(--mantine-color-red-6)",
  stale: "var(--mantine-color-gray-6)",
  better: "var(--mantine-color-green-6)",
  neither: "var(--mantine-color-gray-6)",
};
