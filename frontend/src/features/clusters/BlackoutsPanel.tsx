/** The maintenance days of one cluster: nothing starts in them, nor what could not end before. */

import { Group, Stack, Text, Title } from "@mantine/core";
import { useMutation, useQuery } from "@tanstack/react-query";
import { lazy, Suspense, useState } from "react";
import type { Blackout } from "@/api/types";
import { AddButton } from "@/components/AddButton";
import { ConfirmButton } from "@/components/ConfirmButton";
import { Loaded } from "@/components/Loaded";
import { ScrollTable } from "@/components/ScrollTable";
import { useMay } from "@/components/session";
import { formatExactTime } from "@/lib/time";
import { blackoutsQuery, removeBlackout } from "./queries";

const CreateBlackout = lazy(() => import("./CreateBlackout"));

export default function BlackoutsPanel({ clusterId }: { clusterId: number }) {
  const blackouts = useQuery(blackoutsQuery(clusterId));
  const [isAdding, setIsAdding] = useState(false);
  const mayAdd = useMay("operator", clusterId);
  return (
    <Stack gap="xs">
      <Group justify="space-between">
        <Title order={3} size="h5">
          Maintenance
        </Title>
        {mayAdd && (
          <AddButton isOpen={isAdding} onToggle={() => setIsAdding(!isAdding)}>
            Add a blackout
          </AddButton>
        )}
      </Group>
      <Suspense>
        {isAdding && <CreateBlackout clusterId={clusterId} onDone={() => setIsAdding(false)} />}
      </Suspense>
      <Loaded
        empty={
          <Text c="dimmed" size="sm">
            None is planned.
          </Text>
        }
        isEmpty={(rows) => rows.length === 0}
        lines={1}
        query={blackouts}
      >
        {(rows) => (
          <ScrollTable head={["From", "Until", "Reason", ""]} label="Blackouts">
            {rows.map((blackout) => (
              <BlackoutRow blackout={blackout} key={blackout.id} />
            ))}
          </ScrollTable>
        )}
      </Loaded>
    </Stack>
  );
}

function BlackoutRow({ blackout }: { blackout: Blackout }) {
  return (
    <tr>
      <td>{formatExactTime(blackout.starts_at)}</td>
      <td>{formatExactTime(blackout.ends_at)}</td>
      <td className="iotide-wrap">{blackout.reason}</td>
      <td>
        <RemoveButton blackout={blackout} />
      </td>
    </tr>
  );
}

function RemoveButton({ blackout }: { blackout: Blackout }) {
  const remove = useMutation(removeBlackout);
  if (!useMay("operator", blackout.cluster_id)) return null;
  return (
    <ConfirmButton
      aria-label={`Remove the blackout for ${blackout.reason}`}
      loading={remove.isPending}
      onConfirm={() => remove.mutate(blackout.id)}
      question={{
        title: "Remove the blackout?",
        body: "What waits for its end starts as soon as it can.",
        yes: "Remove it",
        no: "Keep it",
      }}
      size="compact-xs"
    >
      Remove
    </ConfirmButton>
  );
}
