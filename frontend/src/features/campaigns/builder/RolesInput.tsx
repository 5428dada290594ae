/** Choice of senders and receivers for workloads that can send between nodes. */

import { t } from "@lingui/core/macro";
import { Trans } from "@lingui/react/macro";
import { ActionIcon, Group, Input, NativeSelect, SegmentedControl, Stack } from "@mantine/core";
import { useRef } from "react";
import { Icon } from "@/components/Icon";
import { Detail, RowButton } from "@/components/looks";
import { type Between, betweenOf, type RoleSets, rolesFor } from "./roles";

interface RolesInputProps {
  readonly roles: RoleSets | undefined;
  readonly nodes: readonly string[];
  readonly onChange: (roles: RoleSets | undefined) => void;
}

const BETWEEN: { value: Between; label: string }[] = [
  { value: "each", label: t`Within each node` },
  { value: "pairs", label: t`From one node to another` },
  { value: "each_pair", label: t`Every node to every other` },
];

export function RolesInput({ roles, nodes, onChange }: RolesInputProps) {
  // Keep the chosen pairs while the user tries the other choices.
  const chosenPairs = useRef<Pairs>(undefined);
  if (Array.isArray(roles)) chosenPairs.current = roles;
  function choose(between: Between): void {
    onChange(between === "pairs" && chosenPairs.current ? chosenPairs.current : rolesFor(between, nodes));
  }
  return (
    <Stack gap="xs" mb="sm">
      <Input.Wrapper label={t`Sender and receiver`}>
        <div>
          <SegmentedControl
            aria-label={t`Sender and receiver`}
            data={BETWEEN}
            onChange={choose}
            value={betweenOf(roles)}
          />
        </div>
      </Input.Wrapper>
      {Array.isArray(roles) && <Pairs nodes={nodes} onChange={onChange} pairs={roles} />}
      {roles !== undefined && (
        <Detail>
          <Trans>
            The receiver runs the load on the targets and listens at its data_address during the run. The
            sender needs no target.
          </Trans>
        </Detail>
      )}
    </Stack>
  );
}

type Pairs = Exclude<RoleSets, string>;

interface PairsProps {
  readonly pairs: Pairs;
  readonly nodes: readonly string[];
  readonly onChange: (pairs: Pairs) => void;
}

function Pairs({ pairs, nodes, onChange }: PairsProps) {
  const offered = (chosen: string) => (nodes.includes(chosen) ? [...nodes] : ["", ...nodes]);
  function change(index: number, part: Partial<Pairs[number]>): void {
    onChange(pairs.map((pair, at) => (at === index ? { ...pair, ...part } : pair)));
  }
  return (
    <>
      {pairs.map(({ sender, receiver }, index) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: pairs have nothing else that stays while their nodes change
        <Group align="end" gap="xs" key={index}>
          <NativeSelect
            data={offered(sender)}
            label={t`Sender`}
            onChange={({ currentTarget }) => change(index, { sender: currentTarget.value })}
            value={nodes.includes(sender) ? sender : ""}
          />
          <NativeSelect
            data={offered(receiver)}
            label={t`Receiver`}
            onChange={({ currentTarget }) => change(index, { receiver: currentTarget.value })}
            value={nodes.includes(receiver) ? receiver : ""}
          />
          {pairs.length > 1 && (
            <ActionIcon
              aria-label={t`Remove ${sender} to ${receiver}`}
              onClick={() => onChange(pairs.toSpliced(index, 1))}
              variant="subtle"
            >
              <Icon name="trash" />
            </ActionIcon>
          )}
        </Group>
      ))}
      <Group>
        <RowButton
          onClick={() => onChange([...pairs, { sender: "", receiver: "" }])}
        >{t`Add pair`}</RowButton>
      </Group>
    </>
  );
}
