/** A ratio with its interval, drawn on a scale with "no difference" in the middle. Small enough for a table cell. */

import { t } from "@lingui/core/macro";
import { formatFactor, formatRoughFactor, formatShift } from "@/lib/units";
import { type Interval, markOf } from "./interval";

const USUAL_WIDTH = 96;
const HEIGHT = 16;
const MIDDLE = HEIGHT / 2;

interface IntervalMarkProps {
  /** Without low and high it is drawn as a hollow dot. */
  readonly of: Interval;
  /** The interval of the label, if the drawn one is its inverse. */
  readonly written?: Interval;
  /** The largest ratio on the scale, the same for a whole table. */
  readonly reach: number;
  /** Grey if the two sides are not comparable. */
  readonly isFaint?: boolean;
  readonly width?: number;
}

export function IntervalMark(props: IntervalMarkProps) {
  const { of, written = of, reach, isFaint = false, width = USUAL_WIDTH } = props;
  const { dot, bar, cutLow, cutHigh } = markOf(of, reach);
  return (
    <svg
      aria-label={inWords(written)}
      className="iotide-interval"
      data-export={JSON.stringify({ ratio: written.ratio, ci_low: written.low, ci_high: written.high })}
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

interface IntervalAxisProps {
  readonly reach: number;
  /** Ratios. */
  readonly ticks: readonly number[];
  readonly width: number;
}

/** The logarithmic scale above marks of the same reach and width. */
export function IntervalAxis({ reach, ticks, width }: IntervalAxisProps) {
  return (
    <svg aria-hidden="true" className="iotide-interval-axis" height={HEIGHT} width={width}>
      {ticks.map((tick) => {
        const x = (markOf({ ratio: tick, low: null, high: null }, reach).dot ?? 0) * width;
        return (
          <text key={tick} textAnchor="middle" x={x} y={HEIGHT - 4}>
            {`${formatRoughFactor(tick).replace(/\.0$/, "")}×`}
          </text>
        );
      })}
    </svg>
  );
}
