/** A number in the words of a formatter, with the number itself for whoever exports it. */

import type { ReactNode } from "react";

interface DatumProps {
  readonly value: number | null;
  /** What stands for the number. */
  readonly children: ReactNode;
  readonly unit?: string;
  readonly className?: string;
  readonly title?: string | undefined;
}

export function Datum({ value, unit, className = "iotide-number", title, children }: DatumProps) {
  if (value === null) return <span data-export='{"value":null}'>{children}</span>;
  return (
    <data className={className} data-unit={unit} title={title} value={value}>
      {children}
    </data>
  );
}
