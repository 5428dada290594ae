/** Short names for the generated types; nothing here is written by hand. */

import type { components } from "./schema";

type Schemas = components["schemas"];

export type Advice = Schemas["Advice"];
export type AdviceEvidence = Schemas["AdviceEvidence"];
export type AdviceReport = Schemas["AdviceReport"];
export type Artefact = Schemas["Artefact"];
export type Blackout = Schemas["Blackout"];
export type Calendar = Schemas["Calendar"];
export type Campaign = Schemas["Campaign"];
export type CampaignMeasures = Schemas["CampaignMeasures"];
export type CampaignPlan = Schemas["CampaignPlan"];
export type Candidate = Schemas["Candidate"];
export type Cell = Schemas["Cell"];
export type CellResult = Schemas["CellResult"];
export type Cluster = Schemas["Cluster"];
export type Curve = Schemas["Curve"];
export type DeathStatement = Schemas["DeathStatement"];
export type Drain = Schemas["Drain"];
export type DrainInput = Schemas["DrainInput"];
export type EventInput = Schemas["EventInput"];
export type Flag = Schemas["Flag"];
export type ForeignBefore = Schemas["ForeignBefore"];
export type ForeignDuring = Schemas["ForeignDuring"];
export type MeasuredCell = Schemas["MeasuredCell"];
export type Measurement = Schemas["Measurement"];
export type NamedChange = Schemas["NamedChange"];
export type Node = Schemas["Node"];
export type Pause = Schemas["Pause"];
export type Points = Schemas["Points"];
export type Preview = Schemas["Preview"];
export type Principal = Schemas["Principal"];
export type Queue = Schemas["Queue"];
export type Reading = Schemas["Reading"];
export type Run = Schemas["Run"];
export type RunDetail = Schemas["RunDetail"];
export type Sample = Schemas["Sample"];
export type Schedule = Schemas["Schedule"];
export type SchedulePlan = Schemas["SchedulePlan"];
export type Series = Schemas["Series"];
export type SeriesAnalysis = Schemas["SeriesAnalysis"];
export type SeriesChange = Schemas["SeriesChange"];
export type Stage = Schemas["Stage"];
export type StepRecord = Schemas["StepRecord"];
export type Target = Schemas["Target"];
export type TargetFacts = Schemas["TargetFacts"];
export type TargetInput = Schemas["TargetInput"];
export type TargetPlace = Schemas["TargetPlace"];
export type Token = Schemas["Token"];
export type TokenCreated = Schemas["TokenCreated"];
/** `Event` is the browser's own. */
export type TrendEvent = Schemas["Event"];
export type Workload = Schemas["Workload"];
