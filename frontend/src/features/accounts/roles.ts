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

/** A line of the form. Its cluster is undefined until the user chooses one, and null for all clusters. */
export interface ChosenRole {
  readonly cluster_id: number | null | undefined;
  readonly role: Role;
}

/** Value of the choice of all clusters. */
export const ALL_CLUSTERS = "all";

/** Viewer of one cluster: the only one of the installation, else the one that the user chooses. */
export function usualRoles(clusters: readonly NamedCluster[]): ChosenRole[] {
  return [{ cluster_id: clusters.length === 1 ? clusters[0]?.id : undefined, role: "viewer" }];
}

export function withRole(roles: readonly ChosenRole[], index: number, changed: ChosenRole): ChosenRole[] {
  return roles.map((role, at) => (at === index ? changed : role));
}

export function withoutRole(roles: readonly ChosenRole[], index: number): ChosenRole[] {
  return roles.filter((_, at) => at !== index);
}

/** The roles with a cluster, as the server takes them. */
export function grantsOf(roles: readonly ChosenRole[]): Grant[] {
  return roles.flatMap(({ cluster_id: id, role }) => (id === undefined ? [] : [{ cluster_id: id, role }]));
}
