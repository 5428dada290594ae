/** Which targets of storage nodes a target stands on, to be ticked by an operator. */

import { t } from "@lingui/core/macro";
import { Button, Checkbox, Group, Stack, Text } from "@mantine/core";
import { useMutation, useQuery } from "@tanstack/react-query";
import { useState } from "react";
import type { Target } from "@/api/types";
import { TargetLink } from "@/components/links";
import { ErrorNotice } from "@/components/Page";
import { setBacking, targetsQuery } from "./queries";

interface BackedByProps {
  readonly target: Target;
  readonly suggested: readonly { readonly id: number; readonly name: string }[];
  readonly mayChange: boolean;
}

export function BackedBy({ target, suggested, mayChange }: BackedByProps) {
  if (mayChange) return <Choice suggested={suggested} target={target} />;
  if (target.backed_by.length === 0) return <Text c="dimmed">{t`Nothing that is known here.`}</Text>;
  return (
    <Group>
      {target.backed_by.map(({ id, name }) => (
        <TargetLink id={id} key={id} name={name} />
      ))}
    </Group>
  );
}

function Choice({ target, suggested }: Omit<BackedByProps, "mayChange">) {
  const { data: targets = [] } = useQuery(targetsQuery(target.cluster_id));
  const [ticked, setTicked] = useState<ReadonlySet<number>>(new Set(target.backed_by.map(({ id }) => id)));
  const save = useMutation(setBacking);
  const others = targets.filter(({ id }) => id !== target.id);
  if (others.length === 0) return <Text c="dimmed">{t`The cluster has no other target.`}</Text>;
  function tick(id: number, isTicked: boolean): void {
    const next = new Set(ticked);
    if (isTicked) next.add(id);
    else next.delete(id);
    setTicked(next);
  }
  return (
    <Stack gap="xs">
      {others.map(({ id, name, mounts }) => (
        <Checkbox
          checked={ticked.has(id)}
          description={mounts.map((mount) => t`${mount.path} on ${mount.node_name}`).join(", ")}
          key={id}
          label={
            suggested.some((one) => one.id === id) ? t`${name} (suggested: it holds what is exported)` : name
          }
          onChange={(event) => tick(id, event.currentTarget.checked)}
        />
      ))}
      {save.error && <ErrorNotice error={save.error} />}
      <Group>
        <Button
          loading={save.isPending}
          onClick={() => save.mutate({ targetId: target.id, targets: [...ticked] })}
          size="xs"
        >{t`Save`}</Button>
      </Group>
    </Stack>
  );
}
