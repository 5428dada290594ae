/** A stored number as a person reads it, with the exact value on hover. */

import { exactValue, formatScaled, formatValue, type Scale, type Unit } from "@/lib/units";

interface QuantityProps {
  readonly value: number | null;
  readonly unit: Unit;
  /** Shared by the numbers of a column; without it the value's own size decides. */
  readonly scale?: Scale | undefined;
}

export function Quantity({ value, unit, scale }: QuantityProps) {
  if (value === null) return <span>unknown</span>;
  return (
    <span className="iotide-number" title={exactValue(value, unit)}>
      {scale ? formatScaled(value, scale) : formatValue(value, unit)}
    </span>
  );
}
