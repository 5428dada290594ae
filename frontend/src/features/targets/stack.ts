/** Of what a mounted file system is made, from the mount down to the disks, and what its facts advise. */

import type { TargetPlace } from "@/api/types";
import { exactBytes } from "@/lib/units";

type Mount = NonNullable<TargetPlace["mount"]>;

/** One layer, by its kind, and what is known of it. */
export interface Layer {
  readonly kind: string;
  readonly facts: readonly string[];
}

const BYTES_PER_SECTOR = 512;
const SMALL_TRANSFER_BYTES = 1024 ** 2;

/** The layers from the mount down. */
export function layersOf(mount: Mount): Layer[] {
  const { facts } = mount;
  const shown = (names: Readonly<Record<string, string>>) =>
    Object.entries(names)
      .filter(([name]) => facts[name] !== undefined && facts[name] !== null && facts[name] !== 0)
      .map(([name, title]) => `${title} ${sized(name, facts[name])}`);
  const kinds = typeof facts["device.stack"] === "string" ? facts["device.stack"].split(" / ") : [];
  return [
    { kind: `mount ${mount.mount_point}`, facts: [mount.mount_options] },
    { kind: `file system ${mount.fstype}`, facts: [mount.source, ...shown(FILE_SYSTEM)] },
    ...kinds.map((kind) => ({ kind, facts: shown(detailsOf(kind)) })),
  ];
}

const FILE_SYSTEM = {
  "xfs.block_bytes": "block",
  "ext.block_bytes": "block",
  "xfs.stripe_unit_bytes": "stripe unit",
  "ext.stripe_unit_bytes": "stripe unit",
  "xfs.stripe_width_bytes": "stripe width",
  "ext.stripe_width_bytes": "stripe width",
  "lustre.stripe_count": "stripes",
  "lustre.stripe_bytes": "stripe",
  "gpfs.block_bytes": "block",
  "nfs.rsize_bytes": "rsize",
  "nfs.wsize_bytes": "wsize",
} as const;

function detailsOf(kind: string): Readonly<Record<string, string>> {
  if (kind.includes("md "))
    return { "md.disk_count": "disks", "md.chunk_bytes": "chunk", "md.stripe_width_bytes": "stripe width" };
  if (kind.includes("dm "))
    return { "lvm.target": "target", "lvm.stripe_count": "stripes", "lvm.chunk_bytes": "chunk" };
  if (kind.includes("partition")) return { "partition.start_bytes": "begins at" };
  if (kind.includes("loop")) return { "loop.backing_file": "file" };
  return { "disk.model": "model", "disk.size_bytes": "size", "disk.scheduler": "scheduler" };
}

function sized(name: string, value: unknown): string {
  return typeof value === "number" && name.endsWith("_bytes") ? exactBytes(value) : String(value);
}

/** What to change, where the facts say that it costs speed; each names the option that mends it. */
export function adviceOf({ facts, fstype, mount_point }: Mount): string[] {
  const advice: string[] = [];
  const chunk = facts["device.minimum_io_bytes"];
  const width = facts["device.optimal_io_bytes"];
  if (facts["fs.stripe_fits_device"] === false && typeof chunk === "number" && typeof width === "number")
    advice.push(stripeAdvice(fstype, mount_point, chunk, width, Number(facts["ext.block_bytes"] ?? 4096)));
  if (facts["partition.aligned"] === false)
    advice.push(
      "A partition does not begin on a boundary of what its disk writes at once: make it anew at 1 MiB.",
    );
  if (facts["nfs.sync"] === true)
    advice.push(
      "Mounted with sync: each write waits for the server. Mount without it unless that is what you measure.",
    );
  for (const name of ["rsize", "wsize"]) {
    const bytes = facts[`nfs.${name}_bytes`];
    if (typeof bytes === "number" && bytes < SMALL_TRANSFER_BYTES)
      advice.push(
        `${name} is ${exactBytes(bytes)}: mount with ${name}=${SMALL_TRANSFER_BYTES}, and see what the server grants.`,
      );
  }
  return advice;
}

function stripeAdvice(
  fstype: string,
  mountPoint: string,
  chunk: number,
  width: number,
  block: number,
): string {
  const problem = `The file system was not made for the RAID below it (chunk ${exactBytes(chunk)}, stripe ${exactBytes(width)}):`;
  if (fstype === "xfs")
    return `${problem} mkfs.xfs -d su=${chunk},sw=${width / chunk}, or mount ${mountPoint} with sunit=${chunk / BYTES_PER_SECTOR},swidth=${width / BYTES_PER_SECTOR}.`;
  return `${problem} tune2fs -E stride=${chunk / block},stripe_width=${width / block} on its device.`;
}
