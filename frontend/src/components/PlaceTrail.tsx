/** Above the title of a node or a target: the way to its cluster, and what else there is to say of it. */

import { t } from "@lingui/core/macro";
import type { ReactNode } from "react";
import { ClusterLink, TextLink } from "./links";
import { OriginBadge } from "./Origin";

export function PlaceTrail({ clusterId, children }: { clusterId: number; children?: ReactNode }) {
  return (
    <>
      <TextLink to="/" underline="always">{t`Overview`}</TextLink> ·{" "}
      <ClusterLink id={clusterId} name={t`its cluster`} underline="always" /> {children}
      <OriginBadge clusterId={clusterId} />
    </>
  );
}
