import type { Campaign } from "@/api/types";

type Compared = Pick<Campaign, "id" | "plan"> & Partial<Pick<Campaign, "previous_campaign_id">>;

/**
 * Return the query of /compare: the sides of a campaign that varies something, else the previous campaign of its
 * schedule as the baseline. Any other needs a second campaign.
 */
export function comparisonOf({ id, plan, previous_campaign_id: previous }: Compared) {
  if (hasSides(plan)) return { campaigns: [id] };
  return previous ? { a: previous, b: id } : { b: id };
}

/** Check that the plan varies targets, nodes, stages, file systems that nodes make, or options. */
export function hasSides(plan: Campaign["plan"]): boolean {
  const { layouts = [], filesystems = [], options = [], mount = [] } = plan.scratch ?? {};
  const modes = filesystems.flatMap(({ data }) => data ?? []);
  if ([layouts, filesystems, options, mount, modes].some(({ length }) => length > 1)) return true;
  const isSpread = plan.workloads.some(({ workload, targets }, place) =>
    plan.workloads
      .slice(place + 1)
      .some((other) => other.workload === workload && other.targets?.join() !== targets?.join()),
  );
  if (isSpread) return true;
  return plan.workloads.some((choice) => {
    const { targets, targets_at_once, nodes, nodes_at_once, sweep = {}, variants } = choice;
    const together = nodes_at_once ?? plan.nodes_at_once;
    const isOfTargets = !(targets_at_once ?? plan.targets_at_once) && (targets ?? plan.targets).length > 1;
    const isOfNodes = Array.isArray(together)
      ? together.length > 1
      : !together && (nodes ?? plan.nodes).length > 1;
    const isOfVariants = (variants ?? plan.stages ?? []).length > 1;
    return (
      isOfTargets || isOfNodes || isOfVariants || Object.values(sweep).some((values) => values.length > 1)
    );
  });
}
