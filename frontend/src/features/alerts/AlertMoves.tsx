import { t } from "@lingui/core/macro";
import { Button, Group, Select, Stack, Textarea, TextInput } from "@mantine/core";
import { useMutation, useQuery } from "@tanstack/react-query";
import { type ReactNode, useState } from "react";
import type { Alert, AlertActionInput } from "@/api/types";
import { eventsQuery } from "@/components/events/queries";
import { Hint } from "@/components/looks";
import { ErrorNotice, Section } from "@/components/Page";
import { useMay } from "@/components/session";
import { formatExactTime, fromLocalTime, shownTimeZone } from "@/lib/time";
import { actOnAlert } from "./queries";
import { MOVES, type Move } from "./words";

const LONGEST_COMMENT = 2000;

interface AlertMovesProps {
  readonly alert: Alert;
  /** Renders the control that adds an event. */
  readonly renderAdd: (onAdded: (eventId: number) => void) => ReactNode;
}

interface Entered {
  readonly comment: string;
  readonly owner: string;
  readonly due: string;
  readonly eventId: number | undefined;
}

export function AlertMoves({ alert, renderAdd }: AlertMovesProps) {
  const act = useMutation(actOnAlert);
  const [entered, setEntered] = useState<Entered>({
    comment: "",
    owner: "",
    due: "",
    eventId: alert.event?.id,
  });
  if (!useMay("operator", alert.cluster_id)) return null;
  const change = (part: Partial<Entered>) => setEntered((now) => ({ ...now, ...part }));
  function move(action: Move): void {
    const body = bodyOf(action, entered);
    act.mutate({ alertId: alert.id, body }, { onSuccess: () => change({ comment: "", owner: "", due: "" }) });
  }
  return (
    <Section description={t`Each action is recorded with your name.`} title={t`Actions`}>
      <Stack gap="sm">
        <Inputs alert={alert} entered={entered} onChange={change} renderAdd={renderAdd} />
        {act.error && <ErrorNotice error={act.error} />}
        {alert.moves.map((name) => (
          <Group gap="sm" key={name} wrap="nowrap">
            <Button
              disabled={act.isPending || isUnready(name, entered)}
              miw={190}
              onClick={() => move(name)}
              variant="default"
            >
              {MOVES[name].label}
            </Button>
            <Hint>{MOVES[name].meaning}</Hint>
          </Group>
        ))}
      </Stack>
    </Section>
  );
}

function isUnready(move: Move, { comment, eventId }: Entered): boolean {
  return (move === "comment" && comment.trim() === "") || (move === "expect" && eventId === undefined);
}

/** Builds the request with only the fields that belong to the action. */
export function bodyOf(action: Move, { comment, owner, due, eventId }: Entered): AlertActionInput {
  const isTaken = action === "acknowledge";
  return {
    action,
    comment,
    owner: isTaken && owner !== "" ? owner : null,
    due_at: isTaken && due !== "" ? fromLocalTime(due) : null,
    event_id: action === "expect" ? (eventId ?? null) : null,
  };
}

interface InputsProps extends AlertMovesProps {
  readonly entered: Entered;
  readonly onChange: (part: Partial<Entered>) => void;
}

function Inputs({ alert, entered, onChange, renderAdd }: InputsProps) {
  const { moves } = alert;
  return (
    <>
      <Textarea
        autosize
        label={t`Comment`}
        maxLength={LONGEST_COMMENT}
        onChange={(event) => onChange({ comment: event.currentTarget.value })}
        value={entered.comment}
      />
      {moves.includes("acknowledge") && (
        <Group align="flex-end">
          <TextInput
            label={t`Owner`}
            onChange={(event) => onChange({ owner: event.currentTarget.value })}
            placeholder={t`you`}
            value={entered.owner}
          />
          <TextInput
            label={t`Due (${shownTimeZone()})`}
            onChange={(event) => onChange({ due: event.currentTarget.value })}
            type="datetime-local"
            value={entered.due}
          />
        </Group>
      )}
      {moves.includes("expect") && (
        <Group align="flex-end">
          <EventSelect alert={alert} entered={entered} onChange={onChange} />
          {renderAdd((eventId) => onChange({ eventId }))}
        </Group>
      )}
    </>
  );
}

function EventSelect({ alert, entered, onChange }: Omit<InputsProps, "renderAdd">) {
  const { data: events = [] } = useQuery(eventsQuery({ cluster_id: alert.cluster_id }));
  const far = ({ at }: { at: string }) => Math.abs(Date.parse(at) - Date.parse(alert.at));
  const nearestFirst = events.toSorted((a, b) => far(a) - far(b));
  return (
    <Select
      clearable
      data={nearestFirst.map(({ id, at, text }) => ({
        value: String(id),
        label: `${text} · ${formatExactTime(at)}`,
      }))}
      flex={1}
      label={t`Event that explains the change`}
      miw={220}
      nothingFoundMessage={t`No matching event. Add one.`}
      onChange={(chosen) => onChange({ eventId: chosen === null ? undefined : Number(chosen) })}
      placeholder={t`Nearest event first`}
      searchable
      value={entered.eventId === undefined ? null : String(entered.eventId)}
    />
  );
}
