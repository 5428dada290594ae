/** Senders and receivers of workloads that work between two nodes. */

import * as z from "zod/mini";

/** Pairs of a workload, or all pairs; undefined: each node does all of its work. */
export const RoleSets = z.union([
  z.array(z.object({ sender: z.string(), receiver: z.string() })),
  z.literal("each_pair"),
]);
export type RoleSets = z.infer<typeof RoleSets>;

export type Between = "each" | "pairs" | "each_pair";

interface Named {
  readonly roles?: RoleSets | undefined;
  readonly places?: { readonly nodes: readonly string[] | null } | undefined;
}

/** Return the nodes of a draft that run the workload. */
export function nodesOf(nodes: readonly string[], { places }: Named): string[] {
  return nodes.filter((name) => places?.nodes?.includes(name) ?? true);
}

export function betweenOf(roles: RoleSets | undefined): Between {
  if (roles === undefined) return "each";
  return roles === "each_pair" ? "each_pair" : "pairs";
}

/** Return the initial roles of a choice: the first node sends to the second. */
export function rolesFor(between: Between, nodes: readonly string[]): RoleSets | undefined {
  if (between === "each") return undefined;
  return between === "each_pair" ? "each_pair" : [{ sender: nodes[0] ?? "", receiver: nodes[1] ?? "" }];
}

/** Return whether the roles have no pair, an unknown node, or a node that sends to itself. */
export function hasRoleProblem(nodes: readonly string[], choice: Named): boolean {
  const { roles } = choice;
  const names = nodesOf(nodes, choice);
  if (roles === undefined) return false;
  if (roles === "each_pair") return names.length < 2;
  const isWrong = roles.some(
    ({ sender, receiver }) => sender === receiver || !names.includes(sender) || !names.includes(receiver),
  );
  return isWrong || roles.length === 0;
}
