/** Buttons of an incident: what operators decide with one click, and the dialogs for its cause, comment and owner. */

import { t } from "@lingui/core/macro";
import { Group, Stack } from "@mantine/core";
import { lazy, type ReactNode, Suspense, useState } from "react";
import type { Incident } from "@/api/types";
import { RowButton } from "@/components/looks";
import { ErrorNotice } from "@/components/Page";
import { useMay } from "@/components/session";
import { useIncidentActions } from "./useIncidentActions";
import { INCIDENT_MOVES, type IncidentMove } from "./words";

const CauseDialog = lazy(() => import("./CauseDialog"));
const CommentDialog = lazy(() => import("./CommentDialog"));

const OFFERED: readonly IncidentMove[] = [
  "acknowledge",
  "expect",
  "ignore",
  "undo",
  "set_cause",
  "reopen",
  "comment",
];

interface IncidentMovesProps {
  readonly incident: Incident;
  /** Renders the control that adds an event as the cause. */
  readonly renderAdd: (incident: Incident, onAdded: (eventId: number) => void) => ReactNode;
  /** The page has a form for comments. */
  readonly hasForm?: boolean;
}

export function IncidentMoves({ incident, renderAdd, hasForm = false }: IncidentMovesProps) {
  const { act, isPending, error } = useIncidentActions(incident.id);
  const [dialog, setDialog] = useState<"set_cause" | "comment">();
  const close = () => setDialog(undefined);
  if (!useMay("operator", incident.cluster_id)) return null;
  const offered = OFFERED.filter(
    (move) => incident.moves.includes(move) && !isDone(move, incident) && !(hasForm && move === "comment"),
  );
  function move(action: IncidentMove): void {
    if (action === "set_cause" || action === "comment") setDialog(action);
    else void act({ action, comment: "" });
  }
  return (
    <Stack gap={4}>
      <Group gap={4} miw={260} wrap="wrap">
        {offered.map((action) => (
          <RowButton
            aria-label={t`${INCIDENT_MOVES[action].label}: incident ${incident.id}`}
            disabled={isPending}
            key={action}
            onClick={() => move(action)}
            title={INCIDENT_MOVES[action].meaning}
          >
            {INCIDENT_MOVES[action].label}
          </RowButton>
        ))}
      </Group>
      {error && <ErrorNotice error={error} />}
      <Suspense>
        {dialog === "set_cause" && (
          <CauseDialog
            incident={incident}
            onClose={close}
            renderAdd={(onAdded) => renderAdd(incident, onAdded)}
          />
        )}
        {dialog === "comment" && <CommentDialog incident={incident} onClose={close} />}
      </Suspense>
    </Stack>
  );
}

/**
 * An acknowledged incident keeps its owner until another user takes it. Undo reopens as well, to the state before the
 * decision.
 */
function isDone(move: IncidentMove, { state, moves }: Incident): boolean {
  if (move === "reopen") return moves.includes("undo");
  return move === "acknowledge" && state === "acknowledged";
}
