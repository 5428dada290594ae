/** A stored number as a person reads it, with the exact value on hover. */

import { exactValue, formatValue, type Unit } from "@/lib/units";

export function Quantity({ value, unit }: { value: number | null; unit: Unit }) {
  if (value === null) return <span>unknown</span>;
  return (
    <span className="iotide-number" title={exactValue(value, unit)}>
      {formatValue(value, unit)}
    </span>
  );
}
