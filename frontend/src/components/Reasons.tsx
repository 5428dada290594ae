/** Flags that may explain a change, an outlier or a difference. */

import { t } from "@lingui/core/macro";
import { Detail } from "./looks";

export function Reasons({ reasons }: { reasons: readonly string[] }) {
  if (reasons.length === 0) return null;
  return <Detail>{t`Possible reasons: ${reasons.join(", ")}`}</Detail>;
}
