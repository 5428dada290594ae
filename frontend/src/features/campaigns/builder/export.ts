/** The plan as a file for the iotide command and as a request for curl. */

import type { CampaignPlan, SchedulePlan } from "@/api/types";
import { toYaml } from "@/lib/yaml";

export function planAsYaml(plan: CampaignPlan): string {
  return toYaml(written(plan));
}

/** The schedule as a file, its plan inside. */
export function scheduleAsYaml({ plan, ...schedule }: SchedulePlan): string {
  const given = Object.entries(schedule).filter(([, value]) => value !== null);
  return toYaml({ ...Object.fromEntries(given), plan: written(plan) });
}

/** The plan without what it leaves open. */
function written(plan: CampaignPlan): object {
  const workloads = plan.workloads.map(({ workload, options = {}, sweep = {}, ...places }) => ({
    workload,
    ...Object.fromEntries(Object.entries(places).filter(([, value]) => value !== null)),
    ...(Object.keys(options).length > 0 && { options }),
    ...(Object.keys(sweep).length > 0 && { sweep }),
  }));
  const { note, stages, window, observers = [], ...rest } = plan;
  const named = stages?.map(({ variant, pause }) => ({ variant, ...(pause && { pause }) })) ?? [];
  return {
    ...rest,
    ...(observers.length > 0 && { observers }),
    ...(window && { window }),
    ...(named.length > 0 && { stages: named }),
    workloads,
    ...(note && { note }),
  };
}

/** A command that submits the plan. */
export function planAsCurl(plan: CampaignPlan, origin: string, idempotencyKey: string): string {
  return asCurl(`${origin}/api/v1/campaigns`, plan, [`Idempotency-Key: ${idempotencyKey}`]);
}

/** A command that creates the schedule. */
export function scheduleAsCurl(schedule: SchedulePlan, origin: string): string {
  return asCurl(`${origin}/api/v1/schedules`, schedule, []);
}

/** The token comes from the environment and is not written down. */
function asCurl(url: string, body: object, headers: readonly string[]): string {
  const json = JSON.stringify(body, null, 2).replaceAll("'", "'\\''");
  return [
    `curl --fail-with-body '${url}' \\`,
    `  -H "Authorization: Bearer $IOTIDE_TOKEN" \\`,
    ...["Content-Type: application/json", ...headers].map((header) => `  -H '${header}' \\`),
    `  -d '${json}'`,
  ].join("\n");
}
