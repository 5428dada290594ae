/** Cautions that concern all results of a campaign, once, each with its remedy. */

import { t } from "@lingui/core/macro";
import { Alert, Button, Group } from "@mantine/core";
import { useInfiniteQuery, useQuery } from "@tanstack/react-query";
import type { Campaign } from "@/api/types";
import { flagTitles, meaningOf, remedyOf } from "@/components/flagWords";
import { ButtonLink } from "@/components/links";
import { useMayRun } from "@/components/session";
import { memoryTargets, type Offered, REMEDY_NAMES } from "../builder/remedies";
import { isOpen } from "../CampaignProgress";
import { cellsQuery, measuresQuery } from "../queries";
import { ENOUGH_RUNS } from "../results";
import { type Cautions, commonCautions, isAvoided } from "./cautions";

interface CommonCautionsProps {
  readonly campaign: Campaign;
  readonly offered: Offered;
  readonly onRepeats: () => void;
}

export function CommonCautions({ campaign, offered, onRepeats }: CommonCautionsProps) {
  const found = useCautions(campaign, offered);
  const mayRun = useMayRun(campaign.cluster_id);
  if (!found) return null;
  const { codes, remedies } = found;
  const dropped = remedies.includes("auto_size") ? memoryTargets(campaign.plan, offered) : [];
  const names = remedies.map((remedy) => REMEDY_NAMES[remedy]).join(t` and `);
  const change = dropped.length > 0 ? t`${names}, without ${dropped.join(", ")}` : names;
  return (
    <Alert color="orange" title={titleOf(found)}>
      {codes
        .filter((code) => !isAvoided(code, remedies))
        .map(remedyOf)
        .join(" ")}
      {mayRun && (
        <Group gap="xs" mt={4}>
          {remedies.length > 0 && (
            <ButtonLink
              search={{ cluster: campaign.cluster_id, from: campaign.id, with: remedies }}
              size="compact-sm"
              to="/campaigns/new"
              variant="default"
            >{t`Duplicate with ${change}`}</ButtonLink>
          )}
          {found.fewCount > 0 && (
            <Button onClick={onRepeats} size="compact-sm" variant="default">{t`Add missing repeats`}</Button>
          )}
        </Group>
      )}
    </Alert>
  );
}

const NOTHING: Offered = { workloads: [], targets: [] };

/** The same as a sentence, for a report. */
export function PaperCautions({ campaign }: Pick<CommonCautionsProps, "campaign">) {
  const found = useCautions(campaign, NOTHING);
  if (!found) return null;
  return (
    <p>
      <strong>{titleOf(found)}.</strong> {found.codes.map(meaningOf).join(" ")}
    </p>
  );
}

/** Return null without cautions. Missing repeats count once the campaign has ended. */
function useCautions(campaign: Campaign, offered: Offered): Cautions | null {
  const { data: cells } = useInfiniteQuery(cellsQuery(campaign.id));
  const { data: measures } = useQuery(measuresQuery(campaign.id));
  if (!cells || !measures) return null;
  const found = commonCautions(cells, measures.metrics, campaign.plan, offered);
  const fewCount = isOpen(campaign) ? 0 : found.fewCount;
  return found.codes.length > 0 || fewCount > 0 ? { ...found, fewCount } : null;
}

function titleOf({ codes, fewCount, resultCount }: Cautions): string {
  const few = t`${fewCount} of ${resultCount} results have fewer than ${ENOUGH_RUNS} runs`;
  const common = t`All results (${resultCount}): ${flagTitles(codes).toLowerCase()}`;
  return [...(codes.length > 0 ? [common] : []), ...(fewCount > 0 ? [few] : [])].join("; ");
}
