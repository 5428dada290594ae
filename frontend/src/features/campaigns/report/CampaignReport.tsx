/** Printable report of a campaign: setup, figures, results and runs. */

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
  /** Sections on runs: flags, failures and environments. */
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
        >{t`Back to campaign`}</ButtonLink>
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
        <p className="quiet">{t`Submit this file with iotide campaign submit to repeat the measurement.`}</p>
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
          on {cluster}, submitted by {owner ?? t`a deleted user`} on {formatExactTime(submitted)}
          {ended ? t`, ended on ${formatExactTime(ended)}` : ""}: {describeCounts(campaign.counts)}.
        </Trans>
      </p>
      {isOpen(campaign) && <p>{t`The campaign has not ended. The report shows the results so far.`}</p>}
      {campaign.plan.note && <p>{campaign.plan.note}</p>}
      <p className="quiet">
        {t`Created on ${formatExactTime(new Date().toISOString())}. Every number lists its runs.`}
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
      empty={<p>{t`No valid results.`}</p>}
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

/** Return the report as a self-contained file with pictures and styles; links lead to the server. */
export function standaloneHtml(sheet: HTMLElement, title: string): string {
  const copy = sheet.cloneNode(true) as HTMLElement;
  for (const link of copy.querySelectorAll("a"))
    link.href = new URL(link.getAttribute("href") ?? "", location.href).href;
  const name = document.createElement("title");
  name.textContent = title;
  const head = t`<meta charset="utf-8"><meta name="viewport" content="width=device-width">${name.outerHTML}`;
  return t`<!doctype html>\n<html lang="en"><head>${head}</head><body>${copy.outerHTML}</body></html>\n`;
}

const HEAD = [t`Configuration`, t`Node and target`, t`Median`, t`Min`, t`Max`, "n", t`Spread`, t`Runs`];

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
          n is the number of valid runs; an interval needs at least four. Spread is the coefficient of
          variation. Rejected and failed runs are listed below and not included above.
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
      {what || t`same options`}
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
  return tier === "enough_runs" ? t`below clock resolution` : t`too few runs`;
}

function ReportSetup({ campaign: { id, plan, additions } }: { campaign: Campaign }) {
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
