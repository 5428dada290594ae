/** That something is drained, why, by whom and until when; nothing where it is not. */

import { t } from "@lingui/core/macro";
import { Badge, Group, Text } from "@mantine/core";
import type { Drain } from "@/api/types";
import { When } from "@/components/values";

export function DrainNote({ drain }: { drain: Drain | null | undefined }) {
  if (!drain) return null;
  return (
    <Group gap={6} maw={420}>
      <Badge color="orange" miw="max-content">{t`drained`}</Badge>
      <Text size="xs" style={{ overflowWrap: "anywhere", whiteSpace: "normal" }}>
        {drain.reason}{" "}
        <Text c="dimmed" inherit span>
          ({drain.by ?? t`an operator`},{" "}
          {drain.until ? <When at={drain.until} prefix="until " /> : t`until it is resumed`})
        </Text>
      </Text>
    </Group>
  );
}
