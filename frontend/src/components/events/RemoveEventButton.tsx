/** Takes back what a person said; what runs saw stays. */

import { t } from "@lingui/core/macro";
import { useMutation } from "@tanstack/react-query";
import type { TrendEvent } from "@/api/types";
import { ConfirmButton } from "@/components/ConfirmButton";
import { useMay } from "@/components/session";
import { removeEvent } from "./queries";

export function RemoveEventButton({ event }: { event: TrendEvent }) {
  const remove = useMutation(removeEvent);
  const mayRemove = useMay("operator", event.cluster_id);
  if (event.kind !== "manual" || !mayRemove) return null;
  return (
    <ConfirmButton
      aria-label={t`Remove the event ${event.text}`}
      loading={remove.isPending}
      onConfirm={() => remove.mutate(event.id)}
      question={{
        title: t`Remove the event?`,
        body: t`“${event.text}” goes from every series that was judged by it. Results stay.`,
        yes: t`Remove it`,
      }}
      size="compact-xs"
    >{t`Remove`}</ConfirmButton>
  );
}
