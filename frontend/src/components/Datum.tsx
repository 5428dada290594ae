/** A number in the words of a formatter, with the number itself for whoever exports it. */

import type { ReactNode } from "react";
import { formatDuration } from "@/lib/units";

interface DatumProps {
  readonly value: number | null;
  /** What stands for the number. */
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
