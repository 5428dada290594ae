/** The plan as YAML for the iotide command and as a curl request. */

import type { CampaignPlan, SchedulePlan } from "@/api/types";
import { toYaml } from "@/lib/yaml";

export function planAsYaml(plan: CampaignPlan): string {
  return toYaml(written(plan));
}

export function scheduleAsYaml({ plan, ...schedule }: SchedulePlan): string {
  const given = Object.entries(schedule).filter(([, value]) => value !== null);
  return toYaml({ ...Object.fromEntries(given), plan: written(plan) });
}

/** Return the plan without empty fields. */
function written(plan: CampaignPlan): object {
  const workloads = plan.workloads.map(({ workload, options = {}, sweep = {}, ...places }) => ({
    workload,
    ...Object.fromEntries(Object.entries(places).filter(([, value]) => value !== null)),
    ...(Object.keys(options).length > 0 && { options }),
    ...(Object.keys(sweep).length > 0 && { sweep }),
  }));
  const { note, stages, window, adaptive, spread_seconds, observers = [], ...rest } = plan;
  const named = stages?.map(({ variant, pause }) => ({ variant, ...(pause && { pause }) })) ?? [];
  return {
    ...rest,
    ...(observers.length > 0 && { observers }),
    ...(adaptive && { adaptive: { ...adaptive, seconds: adaptive.seconds ?? undefined } }),
    ...(spread_seconds != null && { spread_seconds }),
    ...(window && { window }),
    ...(named.length > 0 && { stages: named }),
    workloads,
    ...(note && { note }),
  };
}

export function planAsCurl(plan: CampaignPlan, origin: string, idempotencyKey: string): string {
  return asCurl(`${origin}/api/v1/campaigns`, plan, [`Idempotency-Key: ${idempotencyKey}`]);
}

export function scheduleAsCurl(schedule: SchedulePlan, origin: string): string {
  return asCurl(`${origin}/api/v1/schedules`, schedule, []);
}

/** Reads the token from the environment, so that it does not appear in the command. */
function asCurl(url: string, body: object, headers: readonly string[]): string {
  const json = JSON.stringify(body, null, 2).replaceAll("'", "'\\''");
  return [
    `curl --fail-with-body '${url}' \\`,
    `  -H "Authorization: Bearer $IOTIDE_TOKEN" \\`,
    ...["Content-Type: application/json", ...headers].map((header) => `  -H '${header}' \\`),
    `  -d '${json}'`,
  ].join("\n");
}
