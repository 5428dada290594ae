/** Numbers and moments as people read them, each with its exact value for a pointer and for exports. */

import { t } from "@lingui/core/macro";
import type { ReactNode } from "react";
import { formatDay, formatExactTime, formatWhen } from "@/lib/time";
import { exactValue, formatDuration, formatValue, type Unit } from "@/lib/units";
import { useNow } from "./clock";

interface DatumProps {
  readonly value: number | null;
  /** What stands for the number. */
  readonly children: ReactNode;
  readonly unit?: string;
}

/** A number in the words of a formatter, with the number itself for whoever exports it. */
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

/** A stored number as a person reads it, with the exact value on hover and for whoever exports it. */
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
  /** Stands before it, for instance “until ”. */
  readonly prefix?: string;
}

/** A moment: how long ago, with the exact time on hover. */
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

/** A day, with the exact time on hover: for what is known no closer, or where there is little room. */
export function Day({ at }: { at: string }) {
  return (
    <time dateTime={at} style={{ whiteSpace: "nowrap" }} title={formatExactTime(at)}>
      {formatDay(at)}
    </time>
  );
}
