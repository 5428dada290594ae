/** The states of a run; of a campaign as the sum of its runs, which may also wait for an operator; and of an alert. */

import type { Alert, Campaign, Run } from "./types";

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

export type AlertState = Alert["state"];

/** In the order of an alert's life. */
export const ALERT_STATES = [
  "suspect",
  "untriaged",
  "acknowledged",
  "investigating",
  "expected",
  "noise",
  "wont_fix",
  "fixed",
  "verified",
  "recovered",
  "closed",
] as const satisfies readonly AlertState[];

/** Somebody has to do something about these. */
export const OPEN_ALERT_STATES = [
  "untriaged",
  "acknowledged",
  "investigating",
] as const satisfies readonly AlertState[];
