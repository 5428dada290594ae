/** Note at the end of each page: rates and sizes count in different powers. */

import { t } from "@lingui/core/macro";
import { Detail } from "@/components/looks";
import type { RateUnits } from "@/lib/preferences";
import { usePreferences } from "./preferences";

const RATES: Readonly<Record<RateUnits, string>> = {
  decimal: t`Rates are decimal: 1 MB/s is 10⁶ bytes a second.`,
  binary: t`Rates are binary: 1 MiB/s is 2²⁰ bytes a second.`,
  bits: t`Rates are in bits: 1 Mbit/s is 10⁶ bits a second.`,
};

/** Return the text, for a page with its own typography. */
export function useUnitsWords(): string {
  const { rates } = usePreferences();
  return `${RATES[rates]} ${t`Sizes are binary: 1 MiB is 2²⁰ bytes.`}`;
}

export function UnitsNote() {
  return (
    <Detail className="iotide-units" mt="lg">
      {useUnitsWords()}
    </Detail>
  );
}
