/** Numbers and times in readable form, with exact values on hover and in exports. */

import { t } from "@lingui/core/macro";
import type { ReactNode } from "react";
import { formatDay, formatExactTime, formatWhen } from "@/lib/time";
import { exactValue, formatDuration, formatValue, type Unit } from "@/lib/units";
import { useNow } from "./clock";

interface DatumProps {
  readonly value: number | null;
  readonly children: ReactNode;
  readonly unit?: string;
}

export function Datum({ value, unit, children }: DatumProps) {
  if (value === null) return <span data-export='{"value":null}'>{children}</span>;
  return (
    <data className="iotide-number" data-unit={unit} value={value}>
      {children}
    </data>
  );
}

/** A duration to a tenth of a second. */
export function Seconds({ value }: { value: number }) {
  return (
    <Datum unit="seconds" value={value}>
      {formatDuration(Math.round(value * 10) / 10)}
    </Datum>
  );
}

/** A stored number in readable units, with the exact value on hover and in exports. */
export function Quantity({ value, unit }: { value: number | null; unit: Unit }) {
  if (value === null) return <span data-export='{"value":null}'>{t`unknown`}</span>;
  return (
    <data className="iotide-number" data-unit={unit} title={exactValue(value, unit)} value={value}>
      {formatValue(value, unit)}
    </data>
  );
}

const MINUTE_MILLISECONDS = 60_000;

interface WhenProps {
  readonly at: string | null;
  /** Text before it, for example “until ”. */
  readonly prefix?: string;
}

/** A relative time with the exact time on hover. */
export function When({ at, prefix = "" }: WhenProps) {
  const isRecent = at !== null && Date.now() - Date.parse(at) < MINUTE_MILLISECONDS;
  const now = useNow(isRecent ? 1 : 60);
  if (at === null) return <span data-export='{"value":null}'>{t`never`}</span>;
  return (
    <time dateTime={at} title={formatExactTime(at)}>
      {prefix}
      {formatWhen(at, now)}
    </time>
  );
}

/** A day with the exact time on hover, for narrow columns and approximate times. */
export function Day({ at }: { at: string }) {
  return (
    <time dateTime={at} style={{ whiteSpace: "nowrap" }} title={formatExactTime(at)}>
      {formatDay(at)}
    </time>
  );
}
