/** Where something was measured: its nodes, below them its targets, and the variant of its stage. */

import { t } from "@lingui/core/macro";
import { Trans } from "@lingui/react/macro";
import type { ReactNode } from "react";
import { Detail } from "@/components/looks";
import { ClusterLink, TextLink } from "./links";
import { OriginBadge } from "./Origin";

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

/** Above the title of a node or a target: the way to its cluster, and what else there is to say of it. */
export function PlaceTrail({ clusterId, children }: { clusterId: number; children?: ReactNode }) {
  return (
    <>
      <TextLink to="/" underline="always">{t`Overview`}</TextLink> ·{" "}
      <ClusterLink id={clusterId} name={t`its cluster`} underline="always" /> {children}
      <OriginBadge clusterId={clusterId} />
    </>
  );
}
