/** In words, how far a finished run counts. */

import { t } from "@lingui/core/macro";
import type { RunDetail } from "@/api/types";
import { cautionsOf } from "@/components/flagWords";

export function validityWords({ validity, flags }: Pick<RunDetail, "validity" | "flags">): string {
  if (validity === "rejected") return t`rejected`;
  return cautionsOf(flags.map(({ code }) => code)).length > 0 ? t`kept, with cautions` : t`valid`;
}
