/** States of runs, campaigns and alerts. */

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

/** In the order of an alert's life cycle. */
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

/** States that need action. */
export const OPEN_ALERT_STATES = [
  "untriaged",
  "acknowledged",
  "investigating",
] as const satisfies readonly AlertState[];
