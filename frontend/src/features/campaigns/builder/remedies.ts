/** Changes of a plan that avoid a caution of its results. */

import { t } from "@lingui/core/macro";
import type { CampaignPlan, Target, Workload } from "@/api/types";
import { readFields } from "@/components/schema-form/schema";
import type { Remedy } from "@/lib/remedies";

export const REMEDY_NAMES: Readonly<Record<Remedy, string>> = {
  auto_size: t`auto size`,
  random_data: t`random data`,
  wait_idle: t`waiting for idle nodes`,
};

/** Workloads and targets of a cluster, the newest announcement of a workload first. */
export interface Offered {
  readonly workloads: readonly Workload[];
  readonly targets: readonly Target[];
}

type Choice = CampaignPlan["workloads"][number];

/** Return the plan with these changes, as far as its workloads have the options. */
export function remedied(plan: CampaignPlan, remedies: readonly Remedy[], offered: Offered): CampaignPlan {
  return remedies.reduce((changed, remedy) => withRemedy(changed, remedy, offered), plan);
}

/** Check that the remedy changes the plan. */
export function isRemedyOf(plan: CampaignPlan, remedy: Remedy, offered: Offered): boolean {
  return withRemedy(plan, remedy, offered) !== plan;
}

/** Return the plan's targets in memory, which hold no file of twice the memory. */
export function memoryTargets({ targets }: CampaignPlan, offered: Offered): string[] {
  const inMemory = offered.targets.filter(
    ({ mounts }) => mounts.length > 0 && mounts.every(({ fstype }) => fstype === "tmpfs"),
  );
  return targets.filter((name) => inMemory.some((target) => target.name === name));
}

function withRemedy(plan: CampaignPlan, remedy: Remedy, offered: Offered): CampaignPlan {
  switch (remedy) {
    case "auto_size":
      return withAutoSize(plan, offered);
    case "random_data":
      return withOption(plan, "random", offered, ({ name }) => name === "data");
    case "wait_idle":
      return plan.quiet === "wait" ? plan : { ...plan, quiet: "wait" };
  }
}

/** Choose automatic sizes, and drop targets in memory, where they do not fit. */
function withAutoSize(plan: CampaignPlan, offered: Offered): CampaignPlan {
  const dropped = memoryTargets(plan, offered);
  const changed = withOption(plan, "auto", offered, ({ unit }) => unit === "bytes");
  if (changed === plan || dropped.length === plan.targets.length) return plan;
  const rest = (names: readonly string[]) => names.filter((name) => !dropped.includes(name));
  const workloads = changed.workloads.map((choice) => {
    const own = rest(choice.targets ?? []);
    return choice.targets ? { ...choice, targets: own.length > 0 ? own : null } : choice;
  });
  return { ...changed, targets: rest(plan.targets), workloads };
}

type Field = ReturnType<typeof readFields>[number];

/** Set each option that matches and offers the value. Return the same plan if nothing changes. */
function withOption(
  plan: CampaignPlan,
  value: string,
  { workloads }: Offered,
  isMatch: (field: Field) => boolean,
): CampaignPlan {
  const changed = plan.workloads.map((choice) => {
    const schema = workloads.find(({ name }) => name === choice.workload)?.options_schema;
    const fields = schema ? readFields(schema) : [];
    return withValue(
      choice,
      value,
      fields.filter((field) => isMatch(field) && field.choices.includes(value)),
    );
  });
  return changed.every((choice, place) => choice === plan.workloads[place])
    ? plan
    : { ...plan, workloads: changed };
}

/** Set options to one value, instead of a sweep. */
function withValue(choice: Choice, value: string, fields: readonly Field[]): Choice {
  const { options = {}, sweep = {} } = choice;
  const open = fields
    .filter(({ name, defaultValue }) => name in sweep || (options[name] ?? defaultValue) !== value)
    .map(({ name }) => name);
  if (open.length === 0) return choice;
  return {
    ...choice,
    options: { ...options, ...Object.fromEntries(open.map((name) => [name, value])) },
    sweep: Object.fromEntries(Object.entries(sweep).filter(([name]) => !open.includes(name))),
  };
}
