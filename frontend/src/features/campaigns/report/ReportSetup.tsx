/** Under which conditions a campaign was measured, in words. */

import { t } from "@lingui/core/macro";
import type { Campaign, CampaignPlan } from "@/api/types";
import { useTitlesOf } from "@/components/optionTitles";
import { PaperTable } from "@/components/PaperTable";
import { describeValues, optionValue } from "@/lib/options";
import { formatExactTime } from "@/lib/time";
import { formatDuration } from "@/lib/units";
import { AsMeasured } from "./AsMeasured";

export function ReportSetup({ campaign: { id, plan, additions } }: { campaign: Campaign }) {
  return (
    <>
      <h2>{t`Setup`}</h2>
      <PaperTable head={[t`What`, t`How`]} label={t`Conditions`}>
        {[...conditionsOf(plan), ...additionsOf(additions)].map(([what, how]) => (
          <tr key={what}>
            <td className="strong">{what}</td>
            <td>{how}</td>
          </tr>
        ))}
      </PaperTable>
      <AsMeasured campaignId={id} />
      <h3>{t`Workloads`}</h3>
      <PaperTable head={[t`Workload`, t`Options`, t`Swept`]} label={t`Workloads`}>
        {plan.workloads.map((choice, place) => (
          // biome-ignore lint/suspicious/noArrayIndexKey: the plan is written once
          <WorkloadRow choice={choice} key={place} />
        ))}
      </PaperTable>
    </>
  );
}

function WorkloadRow({ choice }: { choice: CampaignPlan["workloads"][number] }) {
  const titleOf = useTitlesOf()(choice.workload);
  const { workload, options = {}, sweep = {} } = choice;
  const swept = Object.entries(sweep).map(
    ([name, values]) => `${titleOf(name)} ${values.map((value) => optionValue(name, value)).join(", ")}`,
  );
  return (
    <tr>
      <td className="strong">{workload}</td>
      <td>{describeValues(options, titleOf) || t`all at their defaults`}</td>
      <td>{swept.join("; ") || t`nothing`}</td>
    </tr>
  );
}

/** Only what was said: a condition at its default is one too. */
export function conditionsOf(plan: CampaignPlan): [string, string][] {
  const { nodes, targets, repeats = 4 } = plan;
  const { nodes_at_once: nodesAtOnce = false, targets_at_once: targetsAtOnce = false } = plan;
  const { cool_down_seconds: rest = 0, time_limit_seconds: limit = 3600, observers = [], stages = [] } = plan;
  return [
    ["Nodes", `${nodes.join(", ")}${together(nodesAtOnce)}`],
    ["Targets", `${targets.join(", ")}${targetsAtOnce ? t`, all at once` : ""}`],
    ...(observers.length > 0 ? [[t`Watched nodes`, observers.join(", ")] satisfies [string, string]] : []),
    ...(stages.length > 0
      ? [["Stages", stages.map(({ variant }) => variant).join(", then ")] satisfies [string, string]]
      : []),
    ["Repeats", t`${repeats} of each cell by the plan`],
    ["Limits", t`${formatDuration(limit)} a run, ${rest > 0 ? formatDuration(rest) : "no"} rest after each`],
  ];
}

/** Repeats beyond those of the plan; nobody takes them for planned ones. */
export function additionsOf(additions: Campaign["additions"]): [string, string][] {
  const told = additions.map(({ added_at: at, added_by, repeats, cells }) => {
    const who = added_by ?? t`somebody who is gone`;
    const more = cells === 1 ? t`${repeats} of one cell` : t`${repeats} of each of ${cells} cells`;
    return t`${more} by ${who} on ${formatExactTime(at)}`;
  });
  return told.length > 0 ? [[t`Added repeats`, told.join("; ")]] : [];
}

function together(atOnce: boolean | readonly number[]): string {
  if (atOnce === false) return t`, each for itself`;
  return atOnce === true ? t`, all at once` : t`, ${atOnce.join(", ")} at once`;
}
