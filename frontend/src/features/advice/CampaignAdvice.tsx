import { t } from "@lingui/core/macro";
import { NumberInput } from "@mantine/core";
import { useDebouncedValue } from "@mantine/hooks";
import { keepPreviousData } from "@tanstack/react-query";
import { useState } from "react";
import type { Campaign } from "@/api/types";
import { AdviceSection } from "./AdviceSection";
import { campaignAdviceQuery } from "./queries";

const TYPING_MILLISECONDS = 400;
const LARGEST_RATIO = 1e6;

export default function CampaignAdvice({ campaign }: { campaign: Campaign }) {
  const [typed, setTyped] = useState<number | string>("");
  const [settled] = useDebouncedValue(typed, TYPING_MILLISECONDS);
  const claimed = typeof settled === "number" && settled >= 1 && settled <= LARGEST_RATIO ? settled : null;
  const hasPairs = (campaign.plan.targets?.length ?? 0) > 1;
  return (
    <AdviceSection
      actions={
        hasPairs && (
          <NumberInput
            aria-label={t`Claim to check`}
            max={LARGEST_RATIO}
            min={1}
            onChange={setTyped}
            placeholder={t`Check a claim: 2.5 times`}
            size="xs"
            value={typed}
          />
        )
      }
      query={{ ...campaignAdviceQuery(campaign.id, claimed), placeholderData: keepPreviousData }}
    />
  );
}
