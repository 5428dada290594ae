/** Chooses the event that caused an incident, nearest first. */

import { t } from "@lingui/core/macro";
import { Button, Group, Select, Stack } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { type ReactNode, useState } from "react";
import type { Incident } from "@/api/types";
import { Dialog } from "@/components/Dialog";
import { eventsQuery } from "@/components/events/queries";
import { ErrorNotice } from "@/components/Page";
import { formatExactTime } from "@/lib/time";
import { useIncidentActions } from "./useIncidentActions";

interface CauseDialogProps {
  readonly incident: Incident;
  readonly onClose: () => void;
  readonly renderAdd: (onAdded: (eventId: number) => void) => ReactNode;
}

export default function CauseDialog({ incident, onClose, renderAdd }: CauseDialogProps) {
  const { act, isPending, error } = useIncidentActions(incident.id);
  const [chosen, setChosen] = useState<number | undefined>(incident.event?.id);
  const { data: events = [] } = useQuery(eventsQuery({ cluster_id: incident.cluster_id }));
  const known =
    incident.event && !events.some(({ id }) => id === incident.event?.id)
      ? [...events, incident.event]
      : events;
  const far = ({ at }: { at: string }) => Math.abs(Date.parse(at) - Date.parse(incident.at));
  function save(): void {
    if (chosen === undefined) return;
    void act({ action: "set_cause", comment: "", event_id: chosen }, onClose);
  }
  return (
    <Dialog onClose={onClose} title={t`Cause of the incident`}>
      <Stack>
        <Select
          data={known
            .toSorted((a, b) => far(a) - far(b))
            .map(({ id, at, text }) => ({ value: String(id), label: `${text} · ${formatExactTime(at)}` }))}
          label={t`Event that caused the change`}
          nothingFoundMessage={t`No matching event. Add one.`}
          onChange={(value) => setChosen(value === null ? undefined : Number(value))}
          placeholder={t`Nearest event first`}
          searchable
          value={chosen === undefined ? null : String(chosen)}
        />
        {error && <ErrorNotice error={error} />}
        <Group justify="flex-end">
          {renderAdd(setChosen)}
          <Button disabled={chosen === undefined} loading={isPending} onClick={save}>{t`Set cause`}</Button>
        </Group>
      </Stack>
    </Dialog>
  );
}
