/** Printable report of a campaign: answer, figures, results and setup. Further sections are folded. */

import { t } from "@lingui/core/macro";
import { Trans } from "@lingui/react/macro";
import type { ReactNode } from "react";
import { reportPdf } from "@/api/reportPdf";
import type { Campaign } from "@/api/types";
import { ButtonLink, TextLink } from "@/components/links";
import { PaperFold, ReportPage } from "@/components/report/ReportPage";
import { formatExactTime } from "@/lib/time";
import { planAsYaml } from "../builder/export";
import { describeCounts, isOpen } from "../CampaignProgress";
import { preparationWords } from "../preparations";
import { ReportFigures } from "./ReportFigures";
import { ReportResults } from "./ReportResults";
import { ReportSetup } from "./ReportSetup";

interface CampaignReportProps {
  readonly campaign: Campaign;
  readonly answer: ReactNode;
  /** Sections on runs: flags, failures and environments. */
  readonly runs: ReactNode;
}

export function CampaignReport({ campaign, answer, runs }: CampaignReportProps) {
  const { id, name, plan } = campaign;
  return (
    <ReportPage
      back={
        <ButtonLink
          params={{ campaignId: id }}
          to="/campaigns/$campaignId"
          variant="default"
        >{t`Back to campaign`}</ButtonLink>
      }
      fileName={`${name}-${id}`}
      pdf={reportPdf(`campaigns/${id}`)}
      title={t`Report of ${name}`}
    >
      <Heading campaign={campaign} />
      <h2>{t`Answer`}</h2>
      {answer}
      <h2>{t`Figures`}</h2>
      <ReportFigures campaignId={id} />
      <h2>{t`Results`}</h2>
      <ReportResults campaignId={id} />
      <ReportSetup campaign={campaign} />
      {runs}
      <PaperFold title={t`Plan`}>
        <p className="quiet">{t`Submit this file with iotide campaign submit to repeat the measurement.`}</p>
        <pre>{planAsYaml(plan)}</pre>
      </PaperFold>
    </ReportPage>
  );
}

function Heading({ campaign }: { campaign: Campaign }) {
  const { id, name, cluster_name: cluster, owner, created_at: submitted, ended_at: ended } = campaign;
  const preparations = preparationWords(campaign);
  return (
    <>
      <h1>{name}</h1>
      <p>
        <Trans>
          <TextLink inherit params={{ campaignId: id }} to="/campaigns/$campaignId">
            Campaign {id}
          </TextLink>{" "}
          on {cluster}, submitted by {owner ?? t`a deleted user`} on {formatExactTime(submitted)}
          {ended ? t`, ended on ${formatExactTime(ended)}` : ""}: {describeCounts(campaign.counts)}
          {preparations && t`; on scratch disks ${preparations}`}.
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
