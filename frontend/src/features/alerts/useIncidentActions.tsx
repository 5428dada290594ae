/** Actions on an incident. Each is confirmed in a corner of the page, with a button that undoes it. */

import { t } from "@lingui/core/macro";
import { Button } from "@mantine/core";
import { notifications } from "@mantine/notifications";
import { useMutation } from "@tanstack/react-query";
import type { IncidentActionInput } from "@/api/types";
import { actOnIncident, undoOnIncident } from "./queries";
import { INCIDENT_MOVES } from "./words";

const UNDO_MILLISECONDS = 15_000;

export function useIncidentActions(incidentId: number) {
  const { mutateAsync, isPending, error } = useMutation(actOnIncident);
  const { mutate: undo } = useMutation(undoOnIncident);
  async function act(body: IncidentActionInput, onDone?: () => void): Promise<void> {
    try {
      await mutateAsync({ incidentId, body });
    } catch {
      return; // `error` has it
    }
    onDone?.();
    if (body.action !== "comment" && body.action !== "undo") offerUndo(incidentId, body.action, undo);
  }
  return { act, isPending, error };
}

/** The row of the incident may be gone: an acknowledged incident needs no attention any more. */
function offerUndo(
  incidentId: number,
  action: IncidentActionInput["action"],
  undo: (incidentId: number) => void,
): void {
  const id = `incident ${incidentId}`;
  notifications.hide(id);
  notifications.show({
    id,
    autoClose: UNDO_MILLISECONDS,
    title: t`Incident ${incidentId}: ${INCIDENT_MOVES[action].done}`,
    message: (
      <Button
        aria-label={t`Undo: incident ${incidentId}`}
        mt={4}
        onClick={() => {
          notifications.hide(id);
          undo(incidentId);
        }}
        size="compact-xs"
        variant="default"
      >{t`Undo`}</Button>
    ),
  });
}
