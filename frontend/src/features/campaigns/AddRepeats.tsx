import { t } from "@lingui/core/macro";
import { Trans } from "@lingui/react/macro";
import { Alert, Button, Group, NativeSelect, NumberInput, Stack, Text } from "@mantine/core";
import { useInfiniteQuery, useMutation } from "@tanstack/react-query";
import { useState } from "react";
import type { Campaign, Cell } from "@/api/types";
import { Dialog } from "@/components/Dialog";
import { ErrorNotice, Loaded } from "@/components/Page";
import { randomKey } from "@/lib/keys";
import { addRepeats, cellsQuery } from "./queries";
import { cellsWithFew, ENOUGH_RUNS, repeatsWanted } from "./results";

const MOST_REPEATS = 1000;

interface AddRepeatsProps {
  readonly campaign: Campaign;
  /** Ids of the cells to select; empty: cells with too few runs. */
  readonly cellIds: readonly number[];
  readonly onClose: () => void;
}

export default function AddRepeats({ campaign, cellIds, onClose }: AddRepeatsProps) {
  const cells = useInfiniteQuery(cellsQuery(campaign.id));
  return (
    <Dialog onClose={onClose} title={t`Add repeats to ${campaign.name}`}>
      <Loaded empty={t`The campaign has no configurations.`} query={cells}>
        {(rows) => (
          <RepeatsForm
            campaign={campaign}
            cells={rows}
            chosen={rows.filter(({ id }) => cellIds.includes(id))}
            isPart={cells.hasNextPage}
            onClose={onClose}
          />
        )}
      </Loaded>
    </Dialog>
  );
}

interface RepeatsFormProps extends Pick<AddRepeatsProps, "campaign" | "onClose"> {
  readonly cells: readonly Cell[];
  readonly chosen: readonly Cell[];
  /** Whether the campaign has more cells than these. */
  readonly isPart: boolean;
}

function RepeatsForm({ campaign, cells, chosen, isPart, onClose }: RepeatsFormProps) {
  const few = cellsWithFew(cells, campaign);
  const scopes = scopesOf({ few, chosen, cells, isPart });
  const [scopeKey, setScopeKey] = useState(scopes[0]?.key);
  const scope = scopes.find(({ key }) => key === scopeKey) ?? scopes[0];
  const [typed, setTyped] = useState<string | number>();
  const [key] = useState(randomKey);
  const add = useMutation(addRepeats);
  const repeats = Number(typed ?? repeatsWanted(scope?.cells ?? [], campaign));
  const isCount = Number.isInteger(repeats) && repeats >= 1 && repeats <= MOST_REPEATS;
  function submit(): void {
    const cell_ids = scope?.key === "all" ? null : (scope?.cells ?? []).map(({ id }) => id);
    // The key includes the request, so that a second click adds nothing but a changed form does.
    const idempotencyKey = `${key} ${scope?.key} ${repeats}`;
    add.mutate({ campaignId: campaign.id, repeats, cell_ids, idempotencyKey }, { onSuccess: onClose });
  }
  return (
    <Stack gap="sm">
      <NativeSelect
        data={scopes.map(({ key: value, label }) => ({ value, label }))}
        label={t`Configurations`}
        onChange={(event) => {
          setScopeKey(event.currentTarget.value as ScopeKey);
          setTyped(undefined);
        }}
        value={scope?.key}
      />
      <NumberInput
        allowDecimal={false}
        description={t`An interval needs at least ${ENOUGH_RUNS} valid runs.`}
        error={isCount ? undefined : t`Enter a whole number from 1 to ${MOST_REPEATS}.`}
        label={t`Additional repeats per configuration`}
        max={MOST_REPEATS}
        min={1}
        onChange={setTyped}
        value={repeats}
      />
      <Text size="sm">
        <Trans>
          The runs use the conditions of the plan, queue behind waiting runs, and join the results of their
          configurations.
        </Trans>
      </Text>
      {campaign.ended_at !== null && (
        <Alert color="gray">
          <Trans>
            In trends, a configuration keeps the date of its first run. If the servers have changed since,
            duplicate the campaign instead.
          </Trans>
        </Alert>
      )}
      {add.error && <ErrorNotice error={add.error} />}
      <Group justify="flex-end">
        <Button onClick={onClose} variant="default">{t`Cancel`}</Button>
        <Button data-autofocus disabled={!isCount} loading={add.isPending} onClick={submit}>
          {scope && !(scope.key === "all" && isPart)
            ? t`Add ${repeats * scope.cells.length} runs`
            : t`Add runs`}
        </Button>
      </Group>
    </Stack>
  );
}

type ScopeKey = "chosen" | "few" | "all";

/** Return the choices, the most likely one first. */
function scopesOf({
  few,
  chosen,
  cells,
  isPart,
}: Record<"few" | "chosen" | "cells", readonly Cell[]> & { isPart: boolean }) {
  const all = isPart ? t`all configurations` : t`all configurations (${cells.length})`;
  const among = isPart ? t`, of the first ${cells.length}` : "";
  return [
    { key: "chosen" as const, cells: chosen, label: t`selected configurations (${chosen.length})` },
    {
      key: "few" as const,
      cells: few,
      label: t`configurations with fewer than ${ENOUGH_RUNS} runs (${few.length}${among})`,
    },
    { key: "all" as const, cells, label: all },
  ].filter((scope) => scope.cells.length > 0);
}
