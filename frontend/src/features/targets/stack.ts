/** Storage layers from the mount down to the disks. */

import { t } from "@lingui/core/macro";
import type { TargetPlace } from "@/api/types";
import { exactBytes } from "@/lib/units";

type Mount = NonNullable<TargetPlace["mount"]>;

export interface Layer {
  readonly kind: string;
  readonly facts: readonly string[];
}

export function layersOf(mount: Mount): Layer[] {
  const { facts } = mount;
  const shown = (names: Readonly<Record<string, string>>) =>
    Object.entries(names)
      .filter(([name]) => facts[name] !== undefined && facts[name] !== null && facts[name] !== 0)
      .map(([name, title]) => `${title} ${sized(name, facts[name])}`);
  const kinds = typeof facts["device.stack"] === "string" ? facts["device.stack"].split(" / ") : [];
  return [
    { kind: t`mount ${mount.mount_point}`, facts: [mount.mount_options] },
    { kind: t`file system ${mount.fstype}`, facts: [mount.source, ...shown(FILE_SYSTEM)] },
    ...kinds.map((kind) => ({ kind, facts: shown(detailsOf(kind)) })),
  ];
}

const FILE_SYSTEM = {
  "xfs.block_bytes": "block",
  "ext.block_bytes": "block",
  "xfs.stripe_unit_bytes": t`stripe unit`,
  "ext.stripe_unit_bytes": t`stripe unit`,
  "xfs.stripe_width_bytes": t`stripe width`,
  "ext.stripe_width_bytes": t`stripe width`,
  "lustre.stripe_count": "stripes",
  "lustre.stripe_bytes": "stripe",
  "gpfs.block_bytes": "block",
  "nfs.rsize_bytes": "rsize",
  "nfs.wsize_bytes": "wsize",
} as const;

function detailsOf(kind: string): Readonly<Record<string, string>> {
  if (kind.includes("md "))
    return { "md.disk_count": "disks", "md.chunk_bytes": "chunk", "md.stripe_width_bytes": t`stripe width` };
  if (kind.includes("dm "))
    return { "lvm.target": "target", "lvm.stripe_count": "stripes", "lvm.chunk_bytes": "chunk" };
  if (kind.includes("partition")) return { "partition.start_bytes": t`begins at` };
  if (kind.includes("loop")) return { "loop.backing_file": "file" };
  return { "disk.model": "model", "disk.size_bytes": "size", "disk.scheduler": "scheduler" };
}

function sized(name: string, value: unknown): string {
  return typeof value === "number" && name.endsWith("_bytes") ? exactBytes(value) : String(value);
}
