/** States of runs, campaigns and incidents. */

import type { Campaign, Incident, Run } from "./types";

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

export type IncidentState = Incident["state"];

/** States of incidents for the filter, most urgent first. */
export const INCIDENT_STATES = [
  "open",
  "acknowledged",
  "expected",
  "ignored",
  "ended",
] as const satisfies readonly IncidentState[];
