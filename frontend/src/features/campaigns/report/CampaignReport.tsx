/** A campaign on paper: what was asked, how it was measured, what came of it, and by which runs. */

import { t } from "@lingui/core/macro";
import { Trans } from "@lingui/react/macro";
import { Button, Group, Stack } from "@mantine/core";
import { useInfiniteQuery } from "@tanstack/react-query";
import { type ReactNode, useEffect, useRef } from "react";
import type { Campaign } from "@/api/types";
import { ButtonLink, TextLink } from "@/components/links";
import { Loaded } from "@/components/Page";
import { formatExactTime } from "@/lib/time";
import { planAsYaml } from "../builder/export";
import { describeCounts, isOpen } from "../CampaignProgress";
import { cellsQuery } from "../queries";
import { ReportFigures } from "./ReportFigures";
import { ReportResults } from "./ReportResults";
import { ReportSetup } from "./ReportSetup";
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
