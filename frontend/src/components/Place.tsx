/** Where something was measured: its nodes, below them its targets, and the variant of its stage. */

import { t } from "@lingui/core/macro";
import { Trans } from "@lingui/react/macro";
import { Detail } from "@/components/looks";

interface PlaceProps {
  readonly of: {
    readonly node_names: readonly string[];
    readonly target_names: readonly string[];
    /** Empty or absent outside stages. */
    readonly variant?: string;
  };
}

export function Place({ of: { node_names, target_names, variant } }: PlaceProps) {
  return (
    <>
      {node_names.join(", ")}
      <Detail>
        <Trans>
          on {target_names.join(", ")}
          {variant && t`, in ${variant}`}
        </Trans>
      </Detail>
    </>
  );
}
