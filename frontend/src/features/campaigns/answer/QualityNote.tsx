/** Quality of a campaign's results in words, once, each caution with its remedy. */

import { t } from "@lingui/core/macro";
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
      <Group gap="xs">
        {partial.length > 0 && <span>{partialWords(found)}</span>}
        {mayRun && remedies.length > 0 && (
          <DuplicateLink campaign={campaign} offered={offered} remedies={remedies} />
        )}
        {mayRun && fewCount > 0 && (
          <Button onClick={onRepeats} size="compact-sm" variant="default">{t`Add missing repeats`}</Button>
        )}
        <Remedies codes={codes.filter((code) => !isAvoided(code, remedies))} />
      </Group>
    </Alert>
  );
}

function Remedies({ codes }: { codes: readonly string[] }) {
  if (codes.length === 0) return null;
  return (
    <details className="iotide-beside">
      <summary>{t`What to do`}</summary>
      {codes.map((code) => (
        <div key={code}>
          <b>{flagTitle(code)}</b>: {remedyOf(code)}
        </div>
      ))}
    </details>
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
      className="iotide-wrapping"
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
  return (
    <p>
      <strong>{titleOf(found)}.</strong> {[...found.common.map(meaningOf), partialWords(found)].join(" ")}
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

/** Return `May be cached: 3 of 8 results; too short: 2 of 8 results.`; empty without partial flags. */
function partialWords(found: Quality): string {
  const words = found.partial.map((line) => `${flagTitle(line.code)}: ${countWords(line, found)}`);
  return words.length > 0 ? `${words.join("; ")}.` : "";
}

function countWords({ code, resultCount, spread }: PartialFlag, { resultCount: all }: Quality): string {
  const count = t`${resultCount} of ${all} results`;
  if (code !== SCATTERS || spread === null) return count;
  const [least, most] = [formatValue(spread[0], "ratio"), formatValue(spread[1], "ratio")];
  return least === most ? t`${count}, by ${least}` : t`${count}, by ${least} to ${most}`;
}
