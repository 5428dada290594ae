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

/** Runs that make file systems have no target. */
export function Place({ of: { node_names, target_names, variant } }: PlaceProps) {
  if (target_names.length === 0)
    return (
      <>
        {node_names.join(", ")}
        {variant && <Detail>{variant}</Detail>}
      </>
    );
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

export function PlaceTrail({ clusterId, children }: { clusterId: number; children?: ReactNode }) {
  return (
    <>
      <TextLink to="/" underline="always">{t`Overview`}</TextLink> ·{" "}
      <ClusterLink id={clusterId} name={t`Cluster`} underline="always" /> {children}
      <OriginBadge clusterId={clusterId} />
    </>
  );
}
