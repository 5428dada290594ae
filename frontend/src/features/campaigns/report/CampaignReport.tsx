/** A campaign on paper: what was asked, how it was measured, what came of it, and by which runs. */

import { t } from "@lingui/core/macro";
import { Trans } from "@lingui/react/macro";
import { Button, Group, Stack } from "@mantine/core";
import { useInfiniteQuery } from "@tanstack/react-query";
import { type ReactNode, useEffect, useRef } from "react";
import type { Campaign, CampaignPlan, Cell, CellResult } from "@/api/types";
import { cautionsOf } from "@/components/flagWords";
import { ButtonLink, TextLink } from "@/components/links";
import { useTitlesOf } from "@/components/optionTitles";
import { Loaded } from "@/components/Page";
import { PaperTable } from "@/components/PaperTable";
import { RunLinks } from "@/components/RunLinks";
import { Row } from "@/components/ScrollTable";
import { useUnitsWords } from "@/components/UnitsNote";
import { describeValues, optionValue } from "@/lib/options";
import { formatExactTime } from "@/lib/time";
import { formatDuration, formatValue } from "@/lib/units";
import { planAsYaml } from "../builder/export";
import { describeCounts, isOpen } from "../CampaignProgress";
import { cellsQuery } from "../queries";
import { groupResults, type ResultGroup, type ResultRow } from "../results";
import { AsMeasured } from "./AsMeasured";
import { ReportFigures } from "./ReportFigures";
import style from "./report.css?inline";

interface CampaignReportProps {
  readonly campaign: Campaign;
  /** What is to be known of its runs: flags, failures, and what they ran on. */
  readonly runs: ReactNode;
}

export function CampaignReport({ campaign, runs }: CampaignReportProps) {
  const sheet = useRef<HTMLElement>(null);
  const title = t`Report of ${campaign.name}`;
  useEffect(() => {
    document.title = `${title} · iotide`;
  }, [title]);
  return (
    <Stack>
      <Group className="report-bar" gap="xs">
        <ButtonLink
          params={{ campaignId: campaign.id }}
          to="/campaigns/$campaignId"
          variant="default"
        >{t`Back to the campaign`}</ButtonLink>
        <Button onClick={() => window.print()}>{t`Print`}</Button>
        <Button
          onClick={() => sheet.current && download(standaloneHtml(sheet.current, title), campaign)}
          variant="default"
        >{t`Download as HTML`}</Button>
      </Group>
      <article className="report" ref={sheet}>
        <style>{style}</style>
        <Heading campaign={campaign} />
        <ReportSetup campaign={campaign} />
        <h2>{t`Figures`}</h2>
        <ReportFigures campaignId={campaign.id} />
        <h2>{t`Results`}</h2>
        <Results campaign={campaign} />
        {runs}
        <h2>{t`Plan`}</h2>
        <p className="quiet">{t`By this file, iotide campaign submit measures the same again.`}</p>
        <pre>{planAsYaml(campaign.plan)}</pre>
      </article>
    </Stack>
  );
}

function Heading({ campaign }: { campaign: Campaign }) {
  const { id, name, cluster_name: cluster, owner, created_at: submitted, ended_at: ended } = campaign;
  return (
    <>
      <h1>{name}</h1>
      <p>
        <Trans>
          <TextLink inherit params={{ campaignId: id }} to="/campaigns/$campaignId">
            Campaign {id}
          </TextLink>{" "}
          on {cluster}, submitted by {owner ?? t`somebody who is gone`} on {formatExactTime(submitted)}
          {ended ? t`, ended on ${formatExactTime(ended)}` : ""}: {describeCounts(campaign.counts)}.
        </Trans>
      </p>
      {isOpen(campaign) && <p>{t`It has not ended: what follows is what there is so far.`}</p>}
      {campaign.plan.note && <p>{campaign.plan.note}</p>}
      <p className="quiet">
        {t`Made on ${formatExactTime(new Date().toISOString())}. Every number names its runs.`}
      </p>
    </>
  );
}

function Results({ campaign }: { campaign: Campaign }) {
  const cells = useInfiniteQuery(cellsQuery(campaign.id));
  const { hasNextPage, isFetchingNextPage, fetchNextPage } = cells;
  useEffect(() => {
    if (hasNextPage && !isFetchingNextPage) void fetchNextPage();
  }, [hasNextPage, isFetchingNextPage, fetchNextPage]);
  return (
    <Loaded
      empty={<p>{t`No valid run has measured anything.`}</p>}
      isEmpty={(rows) => !hasNextPage && rows.every(({ results }) => results.length === 0)}
      query={cells}
    >
      {(rows) => <ReportResults cells={rows} />}
    </Loaded>
  );
}

function download(html: string, { id, name }: Campaign): void {
  const link = document.createElement("a");
  link.href = URL.createObjectURL(new Blob([html], { type: "text/html" }));
  link.download = `${name}-${id}.html`;
  link.click();
  URL.revokeObjectURL(link.href);
}

/** A report as one file that needs nothing else: pictures and style are in it, and its links lead to the server. */
export function standaloneHtml(sheet: HTMLElement, title: string): string {
  const copy = sheet.cloneNode(true) as HTMLElement;
  for (const link of copy.querySelectorAll("a"))
    link.href = new URL(link.getAttribute("href") ?? "", location.href).href;
  const name = document.createElement("title");
  name.textContent = title;
  const head = t`<meta charset="utf-8"><meta name="viewport" content="width=device-width">${name.outerHTML}`;
  return t`<!doctype html>\n<html lang="en"><head>${head}</head><body>${copy.outerHTML}</body></html>\n`;
}

const HEAD = [t`Of`, t`Node and target`, t`Median`, t`Min`, t`Max`, "n", t`Spread`, t`Of runs`];

function ReportResults({ cells }: { cells: readonly Cell[] }) {
  const titlesOf = useTitlesOf();
  const units = useUnitsWords();
  return (
    <>
      {groupResults(cells, titlesOf).map((group) => (
        <GroupTable group={group} key={group.key} />
      ))}
      <p className="quiet">
        <Trans>
          n counts valid runs; below four there is no interval. Spread is the coefficient of variation. Runs
          that were rejected or failed are listed below and in no number above.
        </Trans>
      </p>
      <p className="quiet">{units}</p>
    </>
  );
}

function GroupTable({ group }: { group: ResultGroup }) {
  const title = `${group.workload}: ${group.title}`;
  return (
    <section>
      <h3>{title}</h3>
      <PaperTable head={HEAD} label={title}>
        {group.rows.map((row) => (
          <MeasuredRow key={`${row.cell.id} ${row.result.series_id}`} row={row} />
        ))}
      </PaperTable>
    </section>
  );
}

function MeasuredRow({ row: { cell, result, what } }: { row: ResultRow }) {
  const { n, unit, median, low, high, tier, variation_ratio: variation } = result;
  const cautions = cautionsOf(result.flags);
  const variant = cell.variant ? t`, in ${cell.variant}` : "";
  return (
    <Row>
      {what || t`all alike`}
      {t`${cell.node_names.join(", ")} on ${cell.target_names.join(", ")}${variant}`}
      <td className={cautions.length > 0 ? "quiet number" : "strong number"}>
        {formatValue(median, unit)}
        {cautions.length > 0 && <div className="cautions">{cautions.join(", ")}</div>}
      </td>
      <td className="number">{n > 1 ? formatValue(low, unit) : t`one run`}</td>
      <td className="number">{n > 1 ? formatValue(high, unit) : t`one run`}</td>
      {n}
      {variation === null ? noSpread(tier) : formatValue(variation, "ratio")}
      <RunLinks ids={cell.counted_runs} />
    </Row>
  );
}

function noSpread(tier: CellResult["tier"]): string {
  return tier === "enough_runs" ? t`below the clock's resolution` : t`too few`;
}

function ReportSetup({ campaign: { id, plan, additions } }: { campaign: Campaign }) {
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
function conditionsOf(plan: CampaignPlan): [string, string][] {
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
function additionsOf(additions: Campaign["additions"]): [string, string][] {
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
