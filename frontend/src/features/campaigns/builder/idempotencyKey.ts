import { useState } from "react";
import type { CampaignPlan } from "@/api/types";
import { randomKey } from "@/lib/keys";

/**
 * Return an idempotency key that is fixed for a plan, so that a second click or a retry creates no second campaign.
 */
export function useIdempotencyKey(plan: CampaignPlan | undefined): string {
  const text = JSON.stringify(plan ?? null);
  const [kept, setKept] = useState({ text, key: randomKey() });
  if (kept.text === text) return kept.key;
  const fresh = { text, key: randomKey() };
  setKept(fresh);
  return fresh.key;
}
