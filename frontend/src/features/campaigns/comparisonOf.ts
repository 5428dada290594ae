import type { Campaign } from "@/api/types";

type Compared = Pick<Campaign, "id" | "plan">;

/**
 * Return the query of /compare: a campaign that varies something has sides of its own; any other needs a second
 * campaign.
 */
export function comparisonOf({ id, plan }: Compared): { campaigns: number[] } | { b: number } {
  return hasSides(plan) ? { campaigns: [id] } : { b: id };
}

function hasSides(plan: Campaign["plan"]): boolean {
  return plan.workloads.some((choice) => {
    const { targets, targets_at_once, nodes, nodes_at_once, sweep = {}, variants } = choice;
    const isOfTargets = !(targets_at_once ?? plan.targets_at_once) && (targets ?? plan.targets).length > 1;
    const isOfNodes = !(nodes_at_once ?? plan.nodes_at_once) && (nodes ?? plan.nodes).length > 1;
    const isOfVariants = (variants?.length ?? 0) > 1;
    return (
      isOfTargets || isOfNodes || isOfVariants || Object.values(sweep).some((values) => values.length > 1)
    );
  });
}
