/** A ratio with its interval, drawn on a scale with "no difference" in the middle. Small enough for a table cell. */

import { t } from "@lingui/core/macro";
import { formatFactor, formatShift } from "@/lib/units";
import { type Interval, markOf } from "./interval";

const USUAL_WIDTH = 96;
const HEIGHT = 16;
const MIDDLE = HEIGHT / 2;

interface IntervalMarkProps {
  /** Without low and high it is drawn as a hollow dot. */
  readonly of: Interval;
  /** The largest ratio on the scale, the same for a whole table. */
  readonly reach: number;
  readonly width?: number;
  /** Grey if the two sides are not comparable. */
  readonly isFaint?: boolean;
}

export function IntervalMark({ of, reach, width = USUAL_WIDTH, isFaint = false }: IntervalMarkProps) {
  const { dot, bar, cutLow, cutHigh } = markOf(of, reach);
  return (
    <svg
      aria-label={inWords(of)}
      className="iotide-interval"
      data-export={JSON.stringify({ ratio: of.ratio, ci_low: of.low, ci_high: of.high })}
      data-faint={isFaint || undefined}
      height={HEIGHT}
      role="img"
      viewBox={`0 0 ${width} ${HEIGHT}`}
      width={width}
    >
      <line className="iotide-interval-none" x1={width / 2} x2={width / 2} y1={0} y2={HEIGHT} />
      {bar && <line x1={bar.from * width} x2={bar.to * width} y1={MIDDLE} y2={MIDDLE} />}
      {cutLow && <path d={`M 5 ${MIDDLE - 4} L 1 ${MIDDLE} L 5 ${MIDDLE + 4}`} />}
      {cutHigh && (
        <path d={`M ${width - 5} ${MIDDLE - 4} L ${width - 1} ${MIDDLE} L ${width - 5} ${MIDDLE + 4}`} />
      )}
      {dot !== null && (
        <circle cx={dot * width} cy={MIDDLE} data-hollow={bar === null || undefined} r={3.5} />
      )}
    </svg>
  );
}

function inWords({ ratio, low, high }: Interval): string {
  if (low === null || high === null) return t`ratio ${formatFactor(ratio)}, no interval`;
  return t`${formatShift(ratio)}, interval from ${formatShift(low)} to ${formatShift(high)}`;
}
