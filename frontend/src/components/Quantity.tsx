/** A stored number as a person reads it, with the exact value on hover and for whoever exports it. */

import { t } from "@lingui/core/macro";
import { exactValue, formatScaled, formatValue, type Scale, type Unit } from "@/lib/units";

interface QuantityProps {
  readonly value: number | null;
  readonly unit: Unit;
  /** Shared by the numbers of a column; without it the value's own size decides. */
  readonly scale?: Scale | undefined;
}

export function Quantity({ value, unit, scale }: QuantityProps) {
  if (value === null) return <span>{t`unknown`}</span>;
  return (
    <data className="iotide-number" data-unit={unit} title={exactValue(value, unit)} value={value}>
      {scale ? formatScaled(value, scale) : formatValue(value, unit)}
    </data>
  );
}
