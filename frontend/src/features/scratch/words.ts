/** States of scratch sets and disks: words, colours and remedies. */

import { t } from "@lingui/core/macro";
import type { MantineColor } from "@mantine/core";
import type { ScratchSet } from "@/api/types";

export type ScratchState = ScratchSet["state"];

interface StateWords {
  readonly word: string;
  readonly color: MantineColor;
}

export const STATES: Readonly<Record<ScratchState, StateWords>> = {
  clean: { word: t`clean`, color: "green" },
  in_use: { word: t`in use`, color: "tide" },
  dirty: { word: t`not cleaned`, color: "red" },
  foreign: { word: t`foreign data`, color: "red" },
  absent: { word: t`absent`, color: "orange" },
  lost: { word: t`lost`, color: "red" },
};

export const PERMISSIONS: Readonly<Record<ScratchSet["permission"], StateWords>> = {
  enabled: { word: t`enabled`, color: "green" },
  changed: { word: t`changed`, color: "red" },
  disabled: { word: t`not enabled`, color: "gray" },
};

/** Remedy for a set that cannot be used as it is; null if it can. */
export function remedyOf(set: ScratchSet): string | null {
  const { state, name, node_name: node } = set;
  if (state === "dirty")
    return set.failed_cleaning_run_id === null
      ? t`Remove the cause. The next make or cleaning of a campaign tries again, or run “iotide-agent scratch wipe ${name}” as root on ${node}.`
      : t`Remove the cause, then try again, or run “iotide-agent scratch wipe ${name}” as root on ${node}.`;
  if (state === "foreign")
    return t`iotide does not touch these disks. Save their data, then root of ${node} can adopt them again.`;
  if (state === "absent")
    return t`Adopt or connect the missing disks, or remove them from the set in /etc/iotide/scratch.toml on ${node}.`;
  return state === "lost"
    ? t`Check the disks and their cables, then restart ${node}. For a disk that does not come back, run “iotide-agent scratch release” there as root.`
    : null;
}
