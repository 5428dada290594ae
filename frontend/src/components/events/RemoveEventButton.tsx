/** Takes back what a person said; what runs saw stays. */

import { t } from "@lingui/core/macro";
import type { TrendEvent } from "@/api/types";
import { ConfirmMutation } from "@/components/buttons";
import { useMay } from "@/components/session";
import { removeEvent } from "./queries";

export function RemoveEventButton({ event }: { event: TrendEvent }) {
  const mayRemove = useMay("operator", event.cluster_id);
  if (event.kind !== "manual" || !mayRemove) return null;
  return (
    <ConfirmMutation
      aria-label={t`Remove the event ${event.text}`}
      title={t`Remove the event?`}
      body={t`“${event.text}” goes from every series that was judged by it. Results stay.`}
      yes={t`Remove it`}
      size="compact-xs"
      mutation={removeEvent}
      variables={event.id}
    >{t`Remove`}</ConfirmMutation>
  );
}
