/** A stored number as a person reads it, with the exact value on hover and for whoever exports it. */

import { t } from "@lingui/core/macro";
import { exactValue, formatValue, type Unit } from "@/lib/units";

export function Quantity({ value, unit }: { value: number | null; unit: Unit }) {
  if (value === null) return <span data-export='{"value":null}'>{t`unknown`}</span>;
  return (
    <data className="iotide-number" data-unit={unit} title={exactValue(value, unit)} value={value}>
      {formatValue(value, unit)}
    </data>
  );
}
