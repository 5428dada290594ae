/** Quality of a campaign's results in words, once, each caution with its remedy. */

import { t } from "@lingui/core/macro";
import { Trans } from "@lingui/react/macro";
import { Alert, Button, Group } from "@mantine/core";
import type { Campaign } from "@/api/types";
import { flagTitle, flagTitles, meaningOf, rankOf, remedyOf } from "@/components/flagWords";
import { ButtonLink } from "@/components/links";
import { useMayRun } from "@/components/session";
import { formatValue } from "@/lib/units";
import { memoryTargets, type Offered, REMEDY_NAMES } from "../builder/remedies";
import { isOpen } from "../CampaignProgress";
import { ENOUGH_RUNS } from "../results";
import { useResults } from "../useResults";
import { isAvoided, type PartialFlag, type Quality, qualityOf } from "./quality";

/** Flag of results whose runs scatter. */
const SCATTERS = "CV";

interface QualityNoteProps {
  readonly campaign: Campaign;
  readonly offered: Offered;
  /** The answer already says that runs are missing. */
  readonly isFewStated: boolean;
  readonly onRepeats: () => void;
}

export function QualityNote({ campaign, offered, isFewStated, onRepeats }: QualityNoteProps) {
  const found = useQuality(campaign, offered, isFewStated);
  const mayRun = useMayRun(campaign.cluster_id);
  if (!found) return null;
  const { common, partial, fewCount, remedies } = found;
  const codes = [...common, ...partial.map(({ code }) => code)];
  return (
    <Alert
      color={fewCount > 0 || codes.some((code) => rankOf(code) <= 2) ? "orange" : "gray"}
      title={titleOf(found)}
    >
      {common
        .filter((code) => !isAvoided(code, remedies))
        .map(remedyOf)
        .join(" ")}
      {partial.map((line) => (
        <div key={line.code}>
          <Trans>
            <b>{flagTitle(line.code)}</b>: {countWords(line, found)}. {remedyOf(line.code)}
          </Trans>
        </div>
      ))}
      {mayRun && (
        <Group gap="xs" mt={4}>
          {remedies.length > 0 && <DuplicateLink campaign={campaign} offered={offered} remedies={remedies} />}
          {fewCount > 0 && (
            <Button onClick={onRepeats} size="compact-sm" variant="default">{t`Add missing repeats`}</Button>
          )}
        </Group>
      )}
    </Alert>
  );
}

function DuplicateLink({
  campaign,
  offered,
  remedies,
}: Pick<QualityNoteProps, "campaign" | "offered"> & Pick<Quality, "remedies">) {
  const dropped = remedies.includes("auto_size") ? memoryTargets(campaign.plan, offered) : [];
  const names = remedies.map((remedy) => REMEDY_NAMES[remedy]).join(t` and `);
  const change = dropped.length > 0 ? t`${names}, without ${dropped.join(", ")}` : names;
  return (
    <ButtonLink
      search={{ cluster: campaign.cluster_id, from: campaign.id, with: [...remedies] }}
      size="compact-sm"
      to="/campaigns/new"
      variant="default"
    >{t`Duplicate with ${change}`}</ButtonLink>
  );
}

const NOTHING: Offered = { workloads: [], targets: [] };

/** The same as a paragraph, for a report. */
export function PaperQuality({ campaign }: Pick<QualityNoteProps, "campaign">) {
  const found = useQuality(campaign, NOTHING, false);
  if (!found) return null;
  const lines = found.partial.map((line) => `${flagTitle(line.code)}: ${countWords(line, found)}.`);
  return (
    <p>
      <strong>{titleOf(found)}.</strong> {[...found.common.map(meaningOf), ...lines].join(" ")}
    </p>
  );
}

/** Return null without cautions. Missing repeats count once the campaign has ended. */
function useQuality(campaign: Campaign, offered: Offered, isFewStated: boolean): Quality | null {
  const results = useResults(campaign.id);
  if (!results) return null;
  const found = qualityOf(results.primary, campaign.plan, offered);
  const fewCount = isOpen(campaign) || isFewStated ? 0 : found.fewCount;
  const isNoted = found.common.length > 0 || found.partial.length > 0 || fewCount > 0;
  return isNoted ? { ...found, fewCount } : null;
}

function titleOf({ common, fewCount, resultCount }: Quality): string {
  const few = t`${fewCount} of ${resultCount} results have fewer than ${ENOUGH_RUNS} runs`;
  const all = t`All results (${resultCount}): ${flagTitles(common).toLowerCase()}`;
  const parts = [...(common.length > 0 ? [all] : []), ...(fewCount > 0 ? [few] : [])];
  return parts.join("; ") || t`Quality of the results`;
}

function countWords({ code, resultCount, spread }: PartialFlag, { resultCount: all }: Quality): string {
  const count = t`${resultCount} of ${all} results`;
  if (code !== SCATTERS || spread === null) return count;
  const [least, most] = [formatValue(spread[0], "ratio"), formatValue(spread[1], "ratio")];
  return least === most ? t`${count}, by ${least}` : t`${count}, by ${least} to ${most}`;
}
