/** Removes an event that a user added. Differences found by runs cannot be removed. */

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
      aria-label={t`Remove event ${event.text}`}
      title={t`Remove event?`}
      body={t`“${event.text}” is removed from every series that it was evaluated for. Results are kept.`}
      yes={t`Remove event`}
      size="compact-xs"
      mutation={removeEvent}
      variables={event.id}
    >{t`Remove`}</ConfirmMutation>
  );
}
