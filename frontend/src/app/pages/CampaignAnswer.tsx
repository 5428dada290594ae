/** Answer of a campaign: what it compares, or its headline numbers, and their quality. */

import { useQuery } from "@tanstack/react-query";
import type { Campaign } from "@/api/types";
import { useMayRun } from "@/components/session";
import { HeadlineNumbers } from "@/features/campaigns/answer/HeadlineNumbers";
import { PaperQuality, QualityNote } from "@/features/campaigns/answer/QualityNote";
import { hasSides } from "@/features/campaigns/comparisonOf";
import { AnswerCard, PaperAnswer } from "@/features/comparison/answer/AnswerCard";
import { targetsQuery } from "@/features/targets/queries";
import { workloadsQuery } from "@/features/workloads/queries";

interface CampaignAnswerProps {
  readonly campaign: Campaign;
  readonly chosen: string | undefined;
  readonly onChoose: (choice: string) => void;
  readonly onRepeats: () => void;
}

export function CampaignAnswer({ campaign, chosen, onChoose, onRepeats }: CampaignAnswerProps) {
  const { data: workloads = [] } = useQuery(workloadsQuery(campaign.cluster_id));
  const { data: targets = [] } = useQuery(targetsQuery(campaign.cluster_id));
  const mayRun = useMayRun(campaign.cluster_id);
  return (
    <AnswerCard
      campaign={campaign}
      renderQuality={(isFewStated) => (
        <QualityNote
          campaign={campaign}
          isFewStated={isFewStated}
          offered={{ workloads, targets }}
          onRepeats={onRepeats}
        />
      )}
      chosen={chosen}
      hasSides={hasSides(campaign.plan)}
      numbers={<HeadlineNumbers campaignId={campaign.id} />}
      onChoose={onChoose}
      onRepeats={mayRun ? onRepeats : undefined}
    />
  );
}

export function PaperCampaignAnswer({ campaign }: Pick<CampaignAnswerProps, "campaign">) {
  return (
    <PaperAnswer
      campaign={campaign}
      quality={<PaperQuality campaign={campaign} />}
      chosen={undefined}
      hasSides={hasSides(campaign.plan)}
      numbers={<HeadlineNumbers campaignId={campaign.id} />}
    />
  );
}
