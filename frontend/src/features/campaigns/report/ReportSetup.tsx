/** Setup of a campaign: conditions, those that the runs had, and workloads. */

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
      <PaperTable head={[t`Condition`, t`Value`]} label={t`Conditions`}>
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
      <td>{describeValues(options, titleOf) || t`defaults`}</td>
      <td>{swept.join("; ") || t`none`}</td>
    </tr>
  );
}

/** Return the plan's conditions, defaults included. AsMeasured shows cache, exclusivity and other load. */
function conditionsOf(plan: CampaignPlan): [string, string][] {
  const { nodes, targets, repeats = 4 } = plan;
  const { nodes_at_once: nodesAtOnce = false, targets_at_once: targetsAtOnce = false } = plan;
  const { cool_down_seconds: rest = 0, time_limit_seconds: limit = 3600, observers = [], stages = [] } = plan;
  return [
    ["Nodes", `${nodes.join(", ")}${together(nodesAtOnce)}`],
    ["Targets", `${targets.join(", ")}${targetsAtOnce ? t`, all at once` : ""}`],
    ...(observers.length > 0 ? [[t`Monitored nodes`, observers.join(", ")] satisfies [string, string]] : []),
    ...(stages.length > 0
      ? [["Stages", stages.map(({ variant }) => variant).join(", then ")] satisfies [string, string]]
      : []),
    ["Repeats", t`${repeats} per configuration in the plan`],
    [
      "Limits",
      t`${formatDuration(limit)} per run, ${rest > 0 ? formatDuration(rest) : "no"} cool-down after each`,
    ],
  ];
}

/** Return the repeats added after submission, kept apart from planned ones. */
function additionsOf(additions: Campaign["additions"]): [string, string][] {
  const parts = additions.map(({ added_at: at, added_by, repeats, cells }) => {
    const who = added_by ?? t`a deleted user`;
    const more =
      cells === 1 ? t`${repeats} for one configuration` : t`${repeats} for each of ${cells} configurations`;
    return t`${more} by ${who} on ${formatExactTime(at)}`;
  });
  return parts.length > 0 ? [[t`Added repeats`, parts.join("; ")]] : [];
}

function together(atOnce: boolean | readonly number[]): string {
  if (atOnce === false) return t`, one at a time`;
  return atOnce === true ? t`, all at once` : t`, ${atOnce.join(", ")} at once`;
}
