/** The states of a run and, as the sum of its runs, of a campaign, which may also wait for an operator. */

import type { Campaign, Run } from "./types";

export type State = Run["state"] & Campaign["state"];

export const STATES = [
  "waiting",
  "active",
  "finished",
  "failed",
  "cancelled",
] as const satisfies readonly State[];

export type CampaignState = Campaign["state"];

export const CAMPAIGN_STATES = [...STATES, "paused"] as const satisfies readonly CampaignState[];
