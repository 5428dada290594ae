/** Roles of a user, as text and as form values. */

import { t } from "@lingui/core/macro";
import type { User } from "@/api/types";

export type Grant = User["roles"][number];
export type Role = Grant["role"];

export const ROLES: readonly { readonly value: Role; readonly label: string }[] = [
  { value: "viewer", label: t`viewer: views results` },
  { value: "operator", label: t`operator: runs campaigns` },
  { value: "admin", label: t`admin: manages everything` },
];

export interface NamedCluster {
  readonly id: number;
  readonly name: string;
}

/** For example “admin in all clusters, viewer in hpc1”. */
export function rolesInWords(roles: readonly Grant[], clusters: readonly NamedCluster[]): string {
  const words = roles.map(({ role, cluster_id }) => {
    const place = cluster_id === null ? t`all clusters` : placeName(cluster_id, clusters);
    return t`${role} in ${place}`;
  });
  return words.join(", ") || t`none`;
}

export function placeName(clusterId: number, clusters: readonly NamedCluster[]): string {
  return clusters.find(({ id }) => id === clusterId)?.name ?? t`cluster ${clusterId}`;
}

/** Returns the grants with another role in one cluster (null: all clusters). An empty role removes the grant. */
export function withRole(grants: readonly Grant[], clusterId: number | null, role: Role | ""): Grant[] {
  const others = grants.filter((grant) => grant.cluster_id !== clusterId);
  return role === "" ? others : [...others, { cluster_id: clusterId, role }];
}
