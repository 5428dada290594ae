/** Ways to compare chosen campaigns, by what their plans vary. */

import { t } from "@lingui/core/macro";
import type { ListedCampaign } from "@/api/types";
import { plainTitle } from "@/lib/options";

export interface Way {
  readonly label: string;
  /** Why it does not apply; null if it does. */
  readonly missing: string | null;
  readonly search: {
    readonly campaigns?: readonly number[];
    readonly by?: string;
    readonly a?: number;
    readonly b?: number;
  };
}

const MOST_OPTIONS = 4;

/** A plan that the viewer may not see is taken to vary in everything: the server then says what it lacks. */
export function waysOf(chosen: readonly ListedCampaign[]): Way[] {
  const campaigns = chosen.map(({ id }) => id);
  const isHidden = chosen.some(({ plan }) => plan === null);
  const plans = chosen.flatMap(({ plan }) => plan ?? []);
  const varies = (of: (plan: (typeof plans)[number]) => readonly string[]) =>
    isHidden || new Set(plans.flatMap((plan) => of(plan))).size > 1;
  const nothing = chosen.length === 0 ? t`choose a campaign` : null;
  const way = (label: string, by: string, isVaried: boolean, missing: string): Way => ({
    ...{ label, search: { campaigns, by } },
    missing: nothing ?? (isVaried ? null : missing),
  });
  return [
    way(
      t`By target`,
      "target",
      varies(({ targets }) => targets),
      t`they have one target`,
    ),
    way(
      t`By node`,
      "node",
      varies(({ nodes }) => nodes),
      t`they have one node`,
    ),
    ...optionWays(plans, way),
    campaignWay(campaigns),
  ];
}

type MakeWay = (label: string, by: string, isVaried: boolean, missing: string) => Way;

function optionWays(plans: readonly NonNullable<ListedCampaign["plan"]>[], way: MakeWay): Way[] {
  const swept = plans.flatMap(({ workloads }) =>
    workloads.flatMap(({ sweep = {} }) =>
      Object.keys(sweep).filter((name) => (sweep[name] ?? []).length > 1),
    ),
  );
  const names = [...new Set(swept)].slice(0, MOST_OPTIONS);
  if (names.length === 0) return [way(t`By option`, "", false, t`they sweep no option`)];
  return names.map((name) => way(t`By ${plainTitle(name).toLowerCase()}`, `options.${name}`, true, ""));
}

/** The older one is A, the baseline. */
function campaignWay(ids: readonly number[]): Way {
  const label = t`Campaign against campaign`;
  const [a, b] = ids.toSorted((one, other) => one - other);
  if (a === undefined || b === undefined)
    return { label, missing: t`choose two campaigns`, search: { campaigns: ids } };
  if (ids.length === 2) return { label, missing: null, search: { a, b } };
  return { label, missing: null, search: { campaigns: ids, by: "campaign" } };
}
