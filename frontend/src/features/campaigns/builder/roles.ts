/** Which nodes send and which receive, for workloads that work between two nodes. */

import * as z from "zod/mini";

/** The pairs that a workload is run between, or all of them; undefined where each node does all of its work. */
export const RoleSets = z.union([
  z.array(z.object({ sender: z.string(), receiver: z.string() })),
  z.literal("each_pair"),
]);
export type RoleSets = z.infer<typeof RoleSets>;

/** What a workload is run between, as one choice. */
export type Between = "each" | "pairs" | "each_pair";

interface Named {
  readonly roles?: RoleSets | undefined;
  readonly places?: { readonly nodes: readonly string[] | null } | undefined;
}

/** The nodes of a draft that are a workload's own. */
export function nodesOf(nodes: readonly string[], { places }: Named): string[] {
  return nodes.filter((name) => places?.nodes?.includes(name) ?? true);
}

export function betweenOf(roles: RoleSets | undefined): Between {
  if (roles === undefined) return "each";
  return roles === "each_pair" ? "each_pair" : "pairs";
}

/** The roles that a choice begins with: the first node sends to the second. */
export function rolesFor(between: Between, nodes: readonly string[]): RoleSets | undefined {
  if (between === "each") return undefined;
  return between === "each_pair" ? "each_pair" : [{ sender: nodes[0] ?? "", receiver: nodes[1] ?? "" }];
}

/** Whether the roles name no pair, a node that is not there, or one that would send to itself. */
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
