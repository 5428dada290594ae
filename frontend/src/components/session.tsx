/** The signed-in user and permissions. They decide what pages offer; the server checks every request itself. */

import { createContext, type ReactNode, useContext } from "react";
import type { Principal } from "@/api/types";
import { useOrigin } from "./Origin";

type Role = Principal["roles"][number]["role"];
const RANK: Readonly<Record<Role, number>> = { viewer: 0, operator: 1, admin: 2 };
const PrincipalContext = createContext<Principal | null>(null);

export function SessionProvider({ principal, children }: { principal: Principal; children: ReactNode }) {
  return <PrincipalContext value={principal}>{children}</PrincipalContext>;
}

export function usePrincipal(): Principal {
  const principal = useContext(PrincipalContext);
  if (!principal) throw new Error("usePrincipal is used outside SessionProvider");
  return principal;
}

/**
 * Return whether the user has at least `role` in the cluster (null: in all clusters). Published clusters are
 * read-only.
 */
export function useMay(role: Role, clusterId: number | null): boolean {
  const principal = usePrincipal();
  const isPublished = useOrigin(clusterId) === "published";
  return isPublished ? role === "viewer" : hasRole(principal, role, clusterId);
}

/** Return whether the user may start runs there: needs the operator role and a cluster with nodes of its own. */
export function useMayRun(clusterId: number): boolean {
  const isOwn = useOrigin(clusterId) === "own";
  return useMay("operator", clusterId) && isOwn;
}

/** Return whether the user is signed in. With public reading, guests see pages too. */
export function useIsLoggedIn(): boolean {
  return usePrincipal().kind !== "anonymous";
}

export function LoggedIn({ children }: { children: ReactNode }) {
  return useIsLoggedIn() && children;
}

export function useMaySomewhere(role: Role): boolean {
  return usePrincipal().roles.some((grant) => RANK[grant.role] >= RANK[role]);
}

export function hasRole(principal: Principal, role: Role, clusterId: number | null): boolean {
  return principal.roles.some(
    (grant) =>
      (grant.cluster_id === null || grant.cluster_id === clusterId) && RANK[grant.role] >= RANK[role],
  );
}
