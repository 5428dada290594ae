/** Who is logged in, and what the dashboard therefore offers; the server decides again on every request. */

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

/** Whether the user has at least `role` in the cluster; null asks for all clusters. Nobody changes what is published. */
export function useMay(role: Role, clusterId: number | null): boolean {
  const principal = usePrincipal();
  const isPublished = useOrigin(clusterId) === "published";
  return isPublished ? role === "viewer" : hasRole(principal, role, clusterId);
}

/** Whether the user may let something run there: an operator may, on a cluster that has nodes of its own. */
export function useMayRun(clusterId: number): boolean {
  const isOwn = useOrigin(clusterId) === "own";
  return useMay("operator", clusterId) && isOwn;
}

/** Whether somebody is logged in; where the installation is open for reading, others look at it, too. */
export function useIsLoggedIn(): boolean {
  return usePrincipal().kind !== "anonymous";
}

/** What is of no use to whoever only looks at the installation without an account. */
export function LoggedIn({ children }: { children: ReactNode }) {
  return useIsLoggedIn() && children;
}

/** Whether the user has at least `role` in any cluster. */
export function useMaySomewhere(role: Role): boolean {
  return usePrincipal().roles.some((grant) => RANK[grant.role] >= RANK[role]);
}

export function hasRole(principal: Principal, role: Role, clusterId: number | null): boolean {
  return principal.roles.some(
    (grant) =>
      (grant.cluster_id === null || grant.cluster_id === clusterId) && RANK[grant.role] >= RANK[role],
  );
}
