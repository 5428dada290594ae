/** Choices of the list of campaigns, as in the address. */

import type { CampaignState } from "@/api/states";
import type { CampaignSort } from "@/api/types";
import type { CampaignFilter } from "./queries";

export interface ListView {
  readonly text?: string | undefined;
  readonly cluster?: number | undefined;
  readonly state?: CampaignState | undefined;
  readonly schedule?: number | undefined;
  readonly owner?: string | undefined;
  readonly sort?: CampaignSort | undefined;
  /** One row per campaign instead of one per schedule. */
  readonly flat?: boolean | undefined;
  /** Schedules whose campaigns are shown. */
  readonly open?: readonly number[] | undefined;
}

export const NO_FILTER: ListView = {
  text: undefined,
  cluster: undefined,
  state: undefined,
  schedule: undefined,
  owner: undefined,
};

export function hasFilter(view: ListView): boolean {
  return Object.keys(NO_FILTER).some((name) => view[name as keyof ListView] !== undefined);
}

/** Campaigns in one state or of one schedule are listed one by one. */
export function isGrouped({ flat, state, schedule }: ListView): boolean {
  return !flat && state === undefined && schedule === undefined;
}

export function filterOf({ text, cluster, state, schedule, owner, sort }: ListView): CampaignFilter {
  return { text, clusterId: cluster, state, scheduleId: schedule, owner, sort };
}

export function toggleOpen({ open = [] }: ListView, schedule: number): ListView {
  const rest = open.filter((id) => id !== schedule);
  if (rest.length < open.length) return { open: rest.length > 0 ? rest : undefined };
  return { open: [...open, schedule] };
}
