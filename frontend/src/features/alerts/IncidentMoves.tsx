/** Buttons of an incident: what operators decide with one click, and the dialog for its cause. */

import { t } from "@lingui/core/macro";
import { Group, Stack } from "@mantine/core";
import { useMutation } from "@tanstack/react-query";
import { lazy, type ReactNode, Suspense, useState } from "react";
import type { Incident } from "@/api/types";
import { RowButton } from "@/components/looks";
import { ErrorNotice } from "@/components/Page";
import { useMay } from "@/components/session";
import { actOnIncident } from "./queries";
import { INCIDENT_MOVES, type IncidentMove } from "./words";

const CauseDialog = lazy(() => import("./CauseDialog"));

/** Decided by one click; comments have a form on the page of the incident. */
const CLICKED: readonly IncidentMove[] = ["acknowledge", "expect", "set_cause", "ignore", "reopen"];

interface IncidentMovesProps {
  readonly incident: Incident;
  /** Renders the control that adds an event as the cause. */
  readonly renderAdd: (incident: Incident, onAdded: (eventId: number) => void) => ReactNode;
}

export function IncidentMoves({ incident, renderAdd }: IncidentMovesProps) {
  const act = useMutation(actOnIncident);
  const [isChoosing, setIsChoosing] = useState(false);
  if (!useMay("operator", incident.cluster_id)) return null;
  const offered = CLICKED.filter((move) => incident.moves.includes(move) && !isDone(move, incident));
  function move(action: IncidentMove): void {
    if (action === "set_cause") setIsChoosing(true);
    else act.mutate({ incidentId: incident.id, body: { action, comment: "" } });
  }
  return (
    <Stack gap={4}>
      <Group gap={4} wrap="wrap">
        {offered.map((action) => (
          <RowButton
            aria-label={t`${INCIDENT_MOVES[action].label}: incident ${incident.id}`}
            disabled={act.isPending}
            key={action}
            onClick={() => move(action)}
            title={INCIDENT_MOVES[action].meaning}
          >
            {INCIDENT_MOVES[action].label}
          </RowButton>
        ))}
      </Group>
      {act.error && <ErrorNotice error={act.error} />}
      <Suspense>
        {isChoosing && (
          <CauseDialog
            incident={incident}
            onClose={() => setIsChoosing(false)}
            renderAdd={(onAdded) => renderAdd(incident, onAdded)}
          />
        )}
      </Suspense>
    </Stack>
  );
}

/** An acknowledged incident keeps its owner until another user takes it on its page. */
function isDone(move: IncidentMove, { state }: Incident): boolean {
  return move === "acknowledge" && state === "acknowledged";
}
