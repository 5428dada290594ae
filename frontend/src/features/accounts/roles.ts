/** Roles of a person in words, and as the form holds them; pure. */

import { t } from "@lingui/core/macro";
import type { User } from "@/api/types";

export type Grant = User["roles"][number];
export type Role = Grant["role"];

export const ROLES: readonly { readonly value: Role; readonly label: string }[] = [
  { value: "viewer", label: t`viewer: sees results` },
  { value: "operator", label: t`operator: runs campaigns` },
  { value: "admin", label: t`admin: changes all` },
];

export interface NamedCluster {
  readonly id: number;
  readonly name: string;
}

/** “admin of all clusters, viewer of hpc1”. */
export function rolesInWords(roles: readonly Grant[], clusters: readonly NamedCluster[]): string {
  const words = roles.map(({ role, cluster_id }) => {
    const place = cluster_id === null ? t`all clusters` : placeName(cluster_id, clusters);
    return t`${role} of ${place}`;
  });
  return words.join(", ") || t`none`;
}

export function placeName(clusterId: number, clusters: readonly NamedCluster[]): string {
  return clusters.find(({ id }) => id === clusterId)?.name ?? t`cluster ${clusterId}`;
}

/** The grants with another role in one place (null: everywhere); without one where `role` is empty. */
export function withRole(grants: readonly Grant[], clusterId: number | null, role: Role | ""): Grant[] {
  const others = grants.filter((grant) => grant.cluster_id !== clusterId);
  return role === "" ? others : [...others, { cluster_id: clusterId, role }];
}
