/** Names the disks that a plan erases, where it is submitted. */

import { t } from "@lingui/core/macro";
import { Text } from "@mantine/core";
import type { ScratchSet } from "@/api/types";
import { isOf } from "./ScratchSection";
import { placeOf, type ScratchPlan } from "./scratch";

interface ErasedDisksProps {
  readonly scratch: ScratchPlan | undefined;
  readonly sets: readonly ScratchSet[];
}

export function ErasedDisks({ scratch, sets }: ErasedDisksProps) {
  if (!scratch) return null;
  const disks = sets.find(isOf(scratch))?.disks ?? [];
  const place = placeOf(scratch);
  const named = disks.map(({ serial, wwn, bay }) => {
    const id = serial ?? wwn ?? t`unknown serial number`;
    return bay === null ? id : t`${id} (bay ${bay})`;
  });
  return (
    <Text c="var(--mantine-color-error)" fw={600} role="alert" size="sm" w="100%">
      {named.length === 1 && t`This campaign erases 1 disk of ${place}: ${named.join(", ")}`}
      {named.length > 1
        ? t`This campaign erases ${named.length} disks of ${place}: ${named.join(", ")}`
        : named.length === 0 && t`This campaign erases all disks of ${place}.`}
    </Text>
  );
}
