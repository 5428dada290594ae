/** Words of the stripe calculator. */

import { t } from "@lingui/core/macro";
import type { Stripes } from "@/api/types";

type Mkfs = Stripes["mkfs"][number];

const UNITS = [
  { unit: "MiB", bytes: 1024 ** 2 },
  { unit: "KiB", bytes: 1024 },
];

/** Return a size in the largest unit that divides it, since every byte of a stripe counts: `192 KiB`, `512 bytes`. */
export function sizeWords(bytes: number): string {
  const found = UNITS.find((known) => bytes > 0 && bytes % known.bytes === 0);
  return found ? `${bytes / found.bytes} ${found.unit}` : t`${bytes} bytes`;
}

/** Return stride and stripe width as ext has them, or su and sw as XFS has them. */
export function stripeWords(
  mkfs: Pick<Mkfs, "filesystem" | "unit_blocks" | "width_blocks">,
  block: number,
): string {
  const { filesystem, unit_blocks: unit, width_blocks: width } = mkfs;
  if (!unit || !width) return t`none`;
  if (filesystem === "xfs") return `su ${sizeWords(unit * block)}, sw ${width / unit}`;
  return `stride ${unit}, stripe_width ${width}`;
}
