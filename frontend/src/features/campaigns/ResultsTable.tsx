/** Results of a campaign: a pivot table for each primary metric, and the other metrics folded. */

import { t } from "@lingui/core/macro";
import { Trans } from "@lingui/react/macro";
import { Group, Stack, Text } from "@mantine/core";
import { useInfiniteQuery } from "@tanstack/react-query";
import { useState } from "react";
import type { Campaign, Cell } from "@/api/types";
import { TextLink } from "@/components/links";
import { Detail } from "@/components/looks";
import { Loaded, Loading, ShowMore } from "@/components/Page";
import { useMayRun } from "@/components/session";
import { describeCounts, isOpen } from "./CampaignProgress";
import { PivotTable, type PivotTableProps } from "./PivotTable";
import { statedWords } from "./pivotNotes";
import { cellsQuery } from "./queries";
import { ENOUGH_RUNS, type ResultGroup, resultsOf } from "./results";
import { useResults } from "./useResults";

interface ResultsTableProps {
  readonly campaign: Campaign;
  /** Opens the form to add repeats; undefined hides its button. */
  readonly onRepeats?: (cellId: number) => void;
}

export function ResultsTable({ campaign, onRepeats }: ResultsTableProps) {
  const mayAdd = useMayRun(campaign.cluster_id);
  const cells = useInfiniteQuery(cellsQuery(campaign.id));
  return (
    <Loaded
      empty={<NoResult campaign={campaign} />}
      // Cells of a later page may have results, so keep the button that loads more.
      isEmpty={(rows) => !cells.hasNextPage && rows.every(({ results }) => results.length === 0)}
      query={cells}
    >
      {(rows) => (
        <Stack>
          <Pivots campaign={campaign} cells={rows} onRepeats={mayAdd ? onRepeats : undefined} />
          <ShowMore query={cells} />
        </Stack>
      )}
    </Loaded>
  );
}

interface PivotsProps {
  readonly campaign: Campaign;
  readonly cells: readonly Cell[];
  readonly onRepeats: ((cellId: number) => void) | undefined;
}

function Pivots({ campaign, cells, onRepeats }: PivotsProps) {
  const results = useResults(campaign.id);
  if (!results) return <Loading lines={8} />;
  const { primary, others } = results;
  const nodes = [...new Set(cells.map(({ node_names }) => node_names.join(", ")))];
  const isFewStated = resultsOf(primary).every(({ n }) => n < ENOUGH_RUNS);
  const shared = { campaignId: campaign.id, clusterId: campaign.cluster_id, isFewStated };
  return (
    <>
      <PivotTables groups={primary} onRepeats={onRepeats} shownElsewhere={statedWords(primary)} {...shared} />
      <Group gap="xs" justify="space-between">
        {others.length > 0 && (
          <MoreMetrics groups={others} shownElsewhere={statedWords([...primary, ...others])} {...shared} />
        )}
        <Detail>
          <Trans>
            Medians; ± is the coefficient of variation.{" "}
            {cells.filter(({ results }) => results.length > 0).length} of {cells.length} configurations have
            results, without rejected runs. {nodes.length === 1 && t`Node: ${nodes.join()}.`}
          </Trans>
        </Detail>
      </Group>
    </>
  );
}

interface PivotTablesProps extends Omit<PivotTableProps, "group"> {
  readonly groups: readonly ResultGroup[];
}

function PivotTables({ groups, ...context }: PivotTablesProps) {
  return (
    <div className="iotide-pivots">
      {groups.map((group) => (
        <PivotTable group={group} key={group.key} {...context} />
      ))}
    </div>
  );
}

/** Their tables are created when they are opened. */
function MoreMetrics({ groups, ...context }: PivotTablesProps) {
  const [isOpened, setIsOpened] = useState(false);
  const titles = [...new Set(groups.map(({ title }) => title))].join(", ");
  return (
    <details className="iotide-beside" onToggle={({ currentTarget: { open } }) => setIsOpened(open)}>
      <summary>{t`More metrics: ${titles}`}</summary>
      {isOpened && <PivotTables groups={groups} {...context} />}
    </details>
  );
}

function NoResult({ campaign }: { campaign: Campaign }) {
  const { id, counts } = campaign;
  if (isOpen(campaign))
    return <Text c="dimmed">{t`No results yet. The first row appears when the first run finishes.`}</Text>;
  return (
    <Text c="dimmed">
      <Trans>
        The campaign ended without results: {describeCounts(counts)}.{" "}
        {counts.finished > 0 && (
          <>
            <Trans>Rejected runs do not count.</Trans>{" "}
            <RunsLink id={id} title={t`Show why they were rejected`} />{" "}
          </>
        )}
        {counts.failed > 0 && <RunsLink id={id} state="failed" title={t`Show failed runs`} />}
      </Trans>
    </Text>
  );
}

/** Link to the campaign's runs, with the flags that rejected them. */
function RunsLink({ id, state, title }: { id: number; state?: "failed"; title: string }) {
  return (
    <TextLink
      params={{ campaignId: id }}
      search={{ tab: "runs", ...(state && { state }) }}
      to="/campaigns/$campaignId"
      underline="always"
    >
      {title}
    </TextLink>
  );
}
