import { t } from "@lingui/core/macro";
import { Button, Group, MultiSelect, Stack, Textarea, TextInput } from "@mantine/core";
import { useMutation } from "@tanstack/react-query";
import { useState } from "react";
import type { TrendEvent } from "@/api/types";
import { ErrorNotice } from "@/components/Page";
import { submitted } from "@/components/submitted";
import { fromLocalTime, shownTimeZone } from "@/lib/time";
import { Dialog } from "../Dialog";
import { addEvent } from "./queries";

const LONGEST_TEXT = 500;

export interface EventPlace {
  readonly cluster: string;
  readonly nodes: readonly string[];
  readonly targets: readonly string[];
}

interface AddEventModalProps {
  readonly place: EventPlace;
  /** Place selected at first. */
  readonly chosen?: { readonly nodes: readonly string[]; readonly targets: readonly string[] };
  readonly onClose: () => void;
  readonly onAdded?: (event: TrendEvent) => void;
}

export default function AddEventModal({ place, chosen, onClose, onAdded }: AddEventModalProps) {
  const adding = useMutation(addEvent);
  const [nodes, setNodes] = useState([...(chosen?.nodes ?? [])]);
  const [targets, setTargets] = useState([...(chosen?.targets ?? [])]);
  const submit = submitted((text) => {
    const at = text("at") ? fromLocalTime(text("at")) : null;
    const onSuccess = (added: TrendEvent) => {
      onAdded?.(added);
      onClose();
    };
    adding.mutate({ text: text("text"), at, cluster: place.cluster, nodes, targets }, { onSuccess });
  });
  return (
    <Dialog onClose={onClose} title={t`Add event to ${place.cluster}`}>
      <form aria-label={t`New event`} onSubmit={submit}>
        <Stack gap="sm">
          <Textarea
            autosize
            data-autofocus
            description={t`The effect on every matching series is evaluated after 4 data points and again after 8.`}
            label={t`What changed`}
            maxLength={LONGEST_TEXT}
            name="text"
            placeholder={t`RAID set 2 rebuilt`}
            required
          />
          <TextInput
            description={t`${shownTimeZone()}. Empty: now.`}
            label={t`When`}
            name="at"
            type="datetime-local"
          />
          <Places chosen={nodes} data={place.nodes} kind="nodes" onChange={setNodes} />
          <Places chosen={targets} data={place.targets} kind="targets" onChange={setTargets} />
          {adding.error && <ErrorNotice error={adding.error} />}
          <Group justify="flex-end">
            <Button onClick={onClose} variant="default">{t`Cancel`}</Button>
            <Button loading={adding.isPending} type="submit">{t`Save event`}</Button>
          </Group>
        </Stack>
      </form>
    </Dialog>
  );
}

const PLACES = {
  nodes: { label: t`Nodes`, description: t`Empty: all nodes of the cluster.` },
  targets: { label: t`Targets`, description: t`Empty: all targets of the cluster.` },
} as const;

interface PlacesProps {
  readonly kind: keyof typeof PLACES;
  readonly data: readonly string[];
  readonly chosen: string[];
  readonly onChange: (names: string[]) => void;
}

function Places({ kind, data, chosen, onChange }: PlacesProps) {
  return (
    <MultiSelect
      {...PLACES[kind]}
      clearable
      data={[...data]}
      limit={50}
      onChange={onChange}
      searchable
      value={chosen}
    />
  );
}
