/** Comparison of a campaign's answer: its own sides, or the previous campaign of its schedule. */

import { t } from "@lingui/core/macro";
import { useQuery } from "@tanstack/react-query";
import { useMemo } from "react";
import type { Campaign } from "@/api/types";
import { useTitlesOf } from "@/components/optionTitles";
import { titleOfDimension } from "../compared";
import { NO_SIDES, useNamedSides } from "../named";
import { sidesQuery } from "../queries";
import { contrastsOf } from "./contrasts";

/** Value of the choice for the previous campaign of the schedule. */
export const PREVIOUS = "previous";

/** A larger campaign is compared only on request: reading all its cells takes seconds. */
const MOST_RUNS = 4000;

export interface Comparable {
  readonly campaign: Campaign;
  /** Whether the plan varies something within the campaign. */
  readonly hasSides: boolean;
  /** Chosen dimension, or PREVIOUS. */
  readonly chosen: string | undefined;
}

export interface Choice {
  readonly value: string;
  readonly label: string;
}

export function useAnswer({ campaign, hasSides, chosen }: Comparable) {
  const { id, previous_campaign_id: previous } = campaign;
  const isSmall = totalRuns(campaign) <= MOST_RUNS && campaign.counts.finished > 0;
  const asks = (campaigns: readonly number[], by: string | undefined) =>
    sidesQuery({ campaigns, cells: [], by, against: undefined });
  const own = useQuery({ ...asks([id], undefined), enabled: isSmall && hasSides });
  const titleOf = useTitlesOf()(own.data?.rows[0]?.workload ?? campaign.plan.workloads[0]?.workload ?? "");
  const dimensions = (own.data?.dimensions ?? []).filter((name) => name !== "campaign");
  const choices = [
    ...dimensions.map((value) => ({ value, label: t`By ${titleOfDimension(value, titleOf).toLowerCase()}` })),
    ...(previous ? [{ value: PREVIOUS, label: t`Against campaign ${previous}` }] : []),
  ];
  const by = choices.find(({ value }) => value === chosen)?.value ?? usualChoice(choices, campaign.plan);
  const isPrevious = by === PREVIOUS && Boolean(previous);
  const between = useQuery({
    ...(isPrevious
      ? asks([previous ?? 0, id], "campaign")
      : asks([id], by === own.data?.by ? undefined : by)),
    enabled: isSmall && by !== undefined && !(hasSides && own.isLoading),
  });
  const found = useNamedSides(between.data ?? NO_SIDES);
  const contrasts = useMemo(
    () =>
      contrastsOf(isPrevious ? { ...found, names: [t`campaign ${previous ?? 0}`, t`this campaign`] } : found),
    [found, isPrevious, previous],
  );
  const query = hasSides && !own.data ? own : between;
  return {
    choices,
    by,
    contrasts,
    /** Search parameters of the same comparison on /compare. */
    compared: isPrevious ? { campaigns: [previous ?? 0, id], by: "campaign" } : { campaigns: [id], by },
    isLoading: query.isLoading,
    error: query.error,
    refetch: query.refetch,
  };
}

/** Prefer places, then the first option that the plan sweeps. The server names dimensions in that order. */
function usualChoice(choices: readonly Choice[], plan: Campaign["plan"]): string | undefined {
  const [first] = choices;
  if (!first?.value.startsWith("options.")) return first?.value;
  const swept = plan.workloads
    .flatMap(({ sweep = {} }) => Object.keys(sweep))
    .map((name) => `options.${name}`);
  return swept.find((name) => choices.some(({ value }) => value === name)) ?? first.value;
}

function totalRuns({ counts }: Campaign): number {
  return counts.waiting + counts.active + counts.finished + counts.failed + counts.cancelled;
}
