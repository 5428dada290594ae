/** The one form by which a person tells of an event: what changed, when, and where. */

import { Button, Group, Modal, MultiSelect, Stack, Textarea, TextInput } from "@mantine/core";
import { useMutation } from "@tanstack/react-query";
import { type FormEvent, useState } from "react";
import type { TrendEvent } from "@/api/types";
import { ErrorNotice } from "@/components/ErrorNotice";
import { timeZone } from "@/lib/time";
import { tellEvent } from "./queries";

const LONGEST_TEXT = 500;

export interface EventPlace {
  readonly cluster: string;
  /** What may be named as its place. */
  readonly nodes: readonly string[];
  readonly targets: readonly string[];
}

interface TellEventModalProps {
  readonly place: EventPlace;
  /** Of the place, what stands in the form at first. */
  readonly chosen?: { readonly nodes: readonly string[]; readonly targets: readonly string[] };
  readonly onClose: () => void;
  readonly onTold?: (event: TrendEvent) => void;
}

export default function TellEventModal({ place, chosen, onClose, onTold }: TellEventModalProps) {
  const tell = useMutation(tellEvent);
  const [nodes, setNodes] = useState([...(chosen?.nodes ?? [])]);
  const [targets, setTargets] = useState([...(chosen?.targets ?? [])]);
  function submit(event: FormEvent<HTMLFormElement>): void {
    event.preventDefault();
    tell.mutate(
      { ...readEntered(event.currentTarget), cluster: place.cluster, nodes, targets },
      {
        onSuccess: (told) => {
          onTold?.(told);
          onClose();
        },
      },
    );
  }
  return (
    <Modal
      attributes={{ header: { role: "presentation" } }}
      centered
      closeButtonProps={{ "aria-label": "Close" }}
      onClose={onClose}
      opened
      title={`Tell of an event in ${place.cluster}`}
    >
      <form aria-label="New event" onSubmit={submit}>
        <Stack gap="sm">
          <Textarea
            autosize
            data-autofocus
            description="Each series that it may concern is judged by it: after four points, and once more after eight."
            label="What changed"
            maxLength={LONGEST_TEXT}
            name="text"
            placeholder="RAID set 2 rebuilt"
            required
          />
          <TextInput
            description={`${timeZone()}. Empty: now.`}
            label="When"
            name="at"
            type="datetime-local"
          />
          <Places data={place.nodes} label="Nodes" onChange={setNodes} value={nodes} />
          <Places data={place.targets} label="Targets" onChange={setTargets} value={targets} />
          {tell.error && <ErrorNotice error={tell.error} />}
          <Group justify="flex-end">
            <Button onClick={onClose} variant="default">
              Cancel
            </Button>
            <Button loading={tell.isPending} type="submit">
              Tell
            </Button>
          </Group>
        </Stack>
      </form>
    </Modal>
  );
}

function readEntered(form: HTMLFormElement) {
  const entered = new FormData(form);
  const at = String(entered.get("at"));
  return { text: String(entered.get("text")), at: at === "" ? null : new Date(at).toISOString() };
}

interface PlacesProps {
  readonly label: "Nodes" | "Targets";
  readonly data: readonly string[];
  readonly value: string[];
  readonly onChange: (names: string[]) => void;
}

function Places({ label, data, value, onChange }: PlacesProps) {
  return (
    <MultiSelect
      clearable
      data={[...data]}
      description={`Empty: all ${label.toLowerCase()} of the cluster.`}
      label={label}
      limit={50}
      onChange={onChange}
      searchable
      value={value}
    />
  );
}
