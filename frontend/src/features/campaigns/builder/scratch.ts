/** Block `scratch` of a plan: layouts and file systems that a node makes, as the builder's form edits them. */

import { t } from "@lingui/core/macro";
import type { CampaignPlan, ScratchSet } from "@/api/types";

export type ScratchPlan = NonNullable<CampaignPlan["scratch"]>;
type Layout = ScratchPlan["layouts"][number];
type FilesystemChoice = ScratchPlan["filesystems"][number];
export type Filesystem = FilesystemChoice["type"];
export type DataMode = NonNullable<FilesystemChoice["data"]>[number];

export const FILESYSTEMS: readonly Filesystem[] = [
  "ext2",
  "ext3",
  "ext4",
  "xfs",
  "jfs",
  "reiserfs",
  "f2fs",
  "btrfs",
];
/** File systems with a mount option `data`. */
export const WITH_DATA: readonly Filesystem[] = ["ext3", "ext4"];
export const CHUNKS = ["16K", "32K", "64K", "128K", "256K", "512K", "1M"];
const USUAL_CHUNK = "64K";
const UNITS = { K: 1024, M: 1024 ** 2 };

const START: Omit<ScratchPlan, "node" | "set"> = {
  layouts: ["single"],
  filesystems: [{ type: "ext4" }, { type: "xfs" }],
  options: ["default"],
  mount: ["noatime"],
  rounds: 2,
  sync: "wait",
  precondition: "none",
  size_percent: 100,
  except_impossible: true,
};

/** Return `node/set`: the name under which a plan uses a set as its target. */
export function placeOf({ node, set }: Pick<ScratchPlan, "node" | "set">): string {
  return `${node}/${set}`;
}

interface OnScratch {
  readonly nodes: string[];
  readonly targets: string[];
  readonly scratch?: ScratchPlan | undefined;
}

/** Use the disks of a set, on its node and target, or those of none. Keeps layouts and file systems. */
export function chooseSet<Draft extends OnScratch>(draft: Draft, set: ScratchSet | undefined): Draft {
  const { scratch: before } = draft;
  const others = draft.targets.filter((name) => !before || name !== placeOf(before));
  if (!set) return { ...draft, targets: others, scratch: undefined };
  const scratch = { ...(before ?? START), node: set.node_name, set: set.name };
  return { ...draft, scratch, nodes: [set.node_name], targets: [placeOf(scratch)] };
}

/** Return the layouts of most interest on that many disks, in the plan's words. */
export function commonLayouts(disks: number, chunk: string): string[] {
  const even = disks - (disks % 2);
  return [
    { least: 1, text: "single" },
    { least: 2, text: `raid0 ${disks}x${chunk}` },
    { least: 2, text: "raid1 2" },
    { least: 3, text: `raid5 ${disks}x${chunk}` },
    { least: 4, text: `raid6 ${disks}x${chunk}` },
    { least: 4, text: `raid10 ${even}x${chunk}` },
    { least: 2, text: `lvm stripe ${disks}x${chunk}` },
    { least: 2, text: `lvm linear ${disks}` },
  ]
    .filter(({ least }) => disks >= least)
    .map(({ text }) => text);
}

/** Return a layout in the plan's words, such as `lvm stripe 3x256K on raid5 4x64K`. */
export function layoutText(layout: Layout): string {
  if (typeof layout === "string")
    return layout.replaceAll("/", " on ").replaceAll(/[:-]/g, " ").split(/\s+/).filter(Boolean).join(" ");
  const { raid, lvm, on, arrays, start, bitmap } = layout;
  const disks = layout.disks ?? 1;
  if (lvm && on) {
    const below = arrayText(on.raid, on.disks, on.chunk_bytes) + bitmapText(on.bitmap);
    if (lvm === "stripe") return `lvm stripe ${arrays}${chunkText(layout.chunk_bytes)} on ${below}`;
    return `lvm linear on ${arrays === 1 ? "" : `${arrays} `}${below}`;
  }
  if (lvm) return `lvm ${lvm} ${disks}${chunkText(layout.chunk_bytes)}`;
  if (raid != null) return arrayText(raid, disks, layout.chunk_bytes) + bitmapText(bitmap);
  if (disks > 1) return `disks ${disks}`;
  return start === "63s" ? "offset 63s" : "single";
}

function arrayText(raid: number, disks: number, chunkBytes: number | null | undefined): string {
  return `raid${raid} ${disks}${chunkText(chunkBytes)}`;
}

function bitmapText(bitmap: "none" | "internal"): string {
  return bitmap === "internal" ? " bitmap" : "";
}

function chunkText(bytes: number | null | undefined): string {
  if (bytes == null) return "";
  return bytes % UNITS.M === 0 ? `x${bytes / UNITS.M}M` : `x${bytes / UNITS.K}K`;
}

/** Return the chunk of the first layout that has one, for the check boxes. */
export function usedChunk({ layouts }: ScratchPlan): string {
  const found = layouts.map((layout) => /x(\d+[KM])\b/.exec(layoutText(layout))?.[1]);
  return found.find((chunk) => chunk !== undefined && CHUNKS.includes(chunk)) ?? USUAL_CHUNK;
}

/** Return the plan with the layouts of these texts. Those that it has keep what no text says. */
export function withLayouts(scratch: ScratchPlan, texts: readonly string[]): ScratchPlan {
  const wanted = [...new Set(texts.map(layoutText))].filter(Boolean);
  return {
    ...scratch,
    layouts: wanted.map((text) => scratch.layouts.find((layout) => layoutText(layout) === text) ?? text),
  };
}

export function withFilesystems(scratch: ScratchPlan, types: readonly string[]): ScratchPlan {
  const added = FILESYSTEMS.filter(
    (type) => types.includes(type) && !scratch.filesystems.some((choice) => choice.type === type),
  );
  const kept = scratch.filesystems.filter(({ type }) => types.includes(type));
  return { ...scratch, filesystems: [...kept, ...added.map((type) => ({ type }))] };
}

/** Set the modes of `data=` of a file system; without any, the kernel's default applies. */
export function withData(scratch: ScratchPlan, type: Filesystem, modes: readonly string[]): ScratchPlan {
  const data = DATA_MODES.filter((mode) => modes.includes(mode));
  return {
    ...scratch,
    filesystems: scratch.filesystems.map((choice) =>
      choice.type === type ? { ...choice, data: data.length > 0 ? data : null } : choice,
    ),
  };
}

/** The runner keeps a tenth of a run's bytes free, and ext4 reserves 5 % for root. */
export const MOST_FILL_PERCENT = 85;

/** Fills are rounded to these parts of the whole, because 0.07 times 100 is no whole number. */
const PARTS = 1_000_000;

/** Return the fill of each file system in percent; empty if nothing is filled. */
export function fillPercent({ fill_ratio: ratio }: ScratchPlan): number | "" {
  return ratio == null ? "" : Math.round(ratio * PARTS) / (PARTS / 100);
}

/** Take a percentage as it is typed, such as `12.`; nothing or 0 for no fill. */
export function withFillPercent(scratch: ScratchPlan, percent: number | string): ScratchPlan {
  const { fill_ratio: _, ...rest } = scratch;
  const ratio = Math.round(Number(percent) * (PARTS / 100)) / PARTS;
  return ratio > 0 ? { ...rest, fill_ratio: ratio } : rest;
}

export function withServes(scratch: ScratchPlan, isServed: boolean): ScratchPlan {
  const { serves: _, ...rest } = scratch;
  return isServed ? { ...rest, serves: "nfs" } : rest;
}

export const DATA_MODES: readonly DataMode[] = ["ordered", "writeback", "journal"];

/** Return what the user must still choose; empty if the block is complete or absent. */
export function scratchProblems({
  scratch,
  targets,
}: {
  readonly scratch?: ScratchPlan | undefined;
  readonly targets: readonly string[];
}): string[] {
  if (!scratch) return [];
  const { layouts, filesystems, options = [], mount = [], serves } = scratch;
  const place = placeOf(scratch);
  const parts = [
    [layouts.length === 0, t`Choose at least one layout of the scratch disks.`],
    [filesystems.length === 0, t`Choose at least one file system for the scratch disks.`],
    [options.length === 0, t`Choose at least one alignment of mkfs.`],
    [mount.length === 0, t`Enter mount options, or “defaults” for none.`],
    [
      serves === "nfs" && targets.every((name) => name === place),
      t`Choose the target at which the clients mount ${place}, or turn off “Serve by NFS”.`,
    ],
  ] as const;
  return parts.filter(([isMissing]) => isMissing).map(([, text]) => text);
}

/** Return true for an option that only scratch disks allow, unless the user has set it: `keep` of a fill. */
export function isForScratch(
  option: string,
  choice: { readonly workload: string; readonly options: Readonly<Record<string, unknown>> },
): boolean {
  return choice.workload === "fill" && option === "keep" && !choice.options["keep"];
}

/** Say in a few words what is chosen. */
export function scratchSummary(scratch: ScratchPlan): string[] {
  const { layouts, filesystems, serves } = scratch;
  const percent = fillPercent(scratch);
  return [
    placeOf(scratch),
    layouts.length === 1 ? t`1 layout` : t`${layouts.length} layouts`,
    filesystems.length === 1 ? t`1 file system` : t`${filesystems.length} file systems`,
    ...(percent === "" ? [] : [t`filled to ${percent} %`]),
    ...(serves === "nfs" ? [t`served by NFS`] : []),
  ];
}
