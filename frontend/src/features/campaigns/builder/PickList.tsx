/** Checkboxes of many names, with a filter that also takes host lists. */

import { t } from "@lingui/core/macro";
import { Checkbox, Group, ScrollArea, Stack, Text, TextInput } from "@mantine/core";
import { type ReactNode, useState } from "react";
import { Detail, RowButton } from "@/components/looks";
import { hostMatcher } from "@/lib/hostList";

interface PickItem {
  readonly name: string;
  readonly detail: ReactNode;
}

interface PickListProps {
  readonly label: string;
  readonly items: readonly PickItem[];
  readonly picked: readonly string[];
  readonly onPick: (names: string[]) => void;
  /** Shown without items: how to add some. */
  readonly empty: ReactNode;
}

const FILTER_FROM = 10;

export function PickList({ label, items, picked, onPick, empty }: PickListProps) {
  const [filter, setFilter] = useState("");
  if (items.length === 0) return <Text c="dimmed">{empty}</Text>;
  const isListed =
    hostMatcher(filter) ?? ((name: string) => name.toLowerCase().includes(filter.toLowerCase()));
  const shown = items.filter(({ name }) => isListed(name));
  return (
    <Checkbox.Group label={label} onChange={onPick} value={[...picked]}>
      <Stack gap="xs" mt={4}>
        <Group gap="xs">
          {items.length > FILTER_FROM && (
            <TextInput
              aria-label={t`Filter: ${label}`}
              onChange={(event) => setFilter(event.currentTarget.value)}
              placeholder={t`Filter, or node[001-128]`}
              size="xs"
              value={filter}
            />
          )}
          <RowButton onClick={() => onPick(shown.map(({ name }) => name))}>{t`All`}</RowButton>
          <RowButton onClick={() => onPick([])}>{t`None`}</RowButton>
          <Detail>{t`${picked.length} of ${items.length} selected`}</Detail>
        </Group>
        <ScrollArea.Autosize mah={260} type="auto">
          <Stack gap={6}>
            {shown.map(({ name, detail }) => (
              <Checkbox description={detail} key={name} label={name} value={name} />
            ))}
          </Stack>
        </ScrollArea.Autosize>
      </Stack>
    </Checkbox.Group>
  );
}
