import { expect, it } from "vitest";
import type { ScratchSet } from "@/api/types";
import { EMPTY_DRAFT } from "./draft";
import {
  chooseSet,
  commonLayouts,
  fillPercent,
  layoutText,
  type ScratchPlan,
  scratchProblems,
  usedChunk,
  withData,
  withFilesystems,
  withFillPercent,
  withLayouts,
  withServes,
} from "./scratch";
import { variantsOf } from "./variants";

const BAYS = { node_name: "storage01", name: "bays" } as ScratchSet;
const FLASH = { node_name: "storage02", name: "flash" } as ScratchSet;
const RAID5 = { raid: 5, disks: 4, chunk_bytes: 65_536, bitmap: "none", arrays: 1, start: "1MiB" } as const;
const PLAIN = { bitmap: "none", arrays: 1, start: "1MiB" } as const;
const PLAN: ScratchPlan = {
  node: "storage01",
  set: "bays",
  layouts: [{ ...RAID5, bitmap: "internal" }, "single"],
  filesystems: [{ type: "btrfs", profile: "raid1" }, { type: "ext3" }],
  rounds: 2,
  sync: "wait",
  precondition: "discard",
  size_percent: 50,
  except_impossible: false,
};

it("uses a set as the target of its node, and moves both with the set", () => {
  const chosen = chooseSet({ ...EMPTY_DRAFT, nodes: ["n1"], targets: ["nfs"] }, BAYS);
  expect(chosen).toMatchObject({ nodes: ["storage01"], targets: ["storage01/bays"] });
  const edited = { ...chosen, targets: [...chosen.targets, "pvfs2"], scratch: PLAN };
  const moved = chooseSet(edited, FLASH);
  expect(moved).toMatchObject({ nodes: ["storage02"], targets: ["storage02/flash"] });
  expect(moved.scratch).toEqual({ ...PLAN, node: "storage02", set: "flash" });
  const without = chooseSet(edited, undefined);
  expect(without.targets).toEqual(["pvfs2"]);
  expect(without.scratch).toBeUndefined();
});

it("offers only layouts that the number of disks allows", () => {
  expect(commonLayouts(1, "64K")).toEqual(["single"]);
  expect(commonLayouts(3, "64K")).toEqual([
    "single",
    "raid0 3x64K",
    "raid1 2",
    "raid5 3x64K",
    "lvm stripe 3x64K",
    "lvm linear 3",
  ]);
  expect(commonLayouts(5, "256K")).toContain("raid10 4x256K");
});

it("writes layouts of stored plans as the server reads them", () => {
  const texts = [
    RAID5,
    { ...PLAIN, raid: 1, disks: 2 },
    { ...PLAIN, lvm: "stripe", disks: 3, chunk_bytes: 1_048_576 },
    { ...PLAIN, lvm: "linear", on: RAID5 },
    { ...PLAIN, lvm: "stripe", chunk_bytes: 262_144, arrays: 2, on: RAID5 },
    { ...PLAIN, disks: 4 },
    { ...PLAIN, start: "63s" },
    PLAIN,
    " lvm-stripe:2x256K/raid5:3x64K ",
  ] as const;
  expect(texts.map(layoutText)).toEqual([
    "raid5 4x64K",
    "raid1 2",
    "lvm stripe 3x1M",
    "lvm linear on raid5 4x64K",
    "lvm stripe 2x256K on raid5 4x64K",
    "disks 4",
    "offset 63s",
    "single",
    "lvm stripe 2x256K on raid5 3x64K",
  ]);
});

it("keeps what a stored layout sets and no text says, and lists none twice", () => {
  const texts = ["raid5 4x64K bitmap", "raid0:2x64K", "raid0 2x64K", " "];
  expect(withLayouts(PLAN, texts).layouts).toEqual([{ ...RAID5, bitmap: "internal" }, "raid0 2x64K"]);
  expect(usedChunk({ ...PLAN, layouts: ["single", "raid0 2x256K"] })).toBe("256K");
});

it("keeps profiles and data modes of file systems that stay chosen", () => {
  const more = withFilesystems(withData(PLAN, "ext3", ["journal", "ordered"]), ["ext3", "btrfs", "xfs"]);
  expect(more.filesystems).toEqual([
    { type: "btrfs", profile: "raid1" },
    { type: "ext3", data: ["ordered", "journal"] },
    { type: "xfs" },
  ]);
  expect(withData(more, "ext3", []).filesystems[1]).toEqual({ type: "ext3", data: null });
});

it("names what is missing", () => {
  const complete: ScratchPlan = { ...PLAN, options: ["default"], mount: ["noatime"] };
  const targets = ["storage01/bays"];
  expect(scratchProblems({ scratch: complete, targets })).toEqual([]);
  const empty = { ...PLAN, layouts: [], filesystems: [], options: [], mount: [] };
  expect(scratchProblems({ scratch: empty, targets })).toHaveLength(4);
  const served = withServes(complete, true);
  expect(scratchProblems({ scratch: served, targets })).toHaveLength(1);
  expect(scratchProblems({ scratch: served, targets: ["bays-nfs"] })).toEqual([]);
});

it("shows a fill in percent and writes it as a ratio, without rounding what a plan file says", () => {
  expect(withFillPercent(PLAN, 80).fill_ratio).toBe(0.8);
  expect(fillPercent({ ...PLAN, fill_ratio: 0.80125 })).toBe(80.125);
  expect(fillPercent(withFillPercent(PLAN, 57))).toBe(57);
  expect(withFillPercent({ ...PLAN, fill_ratio: 0.5 }, "")).not.toHaveProperty("fill_ratio");
  expect(withServes({ ...PLAN, serves: "nfs" }, false)).not.toHaveProperty("serves");
});

it("adds the time of all rounds of a variant, unknown if one of them is", () => {
  const made = { unit_blocks: 16, width_blocks: 48, size_bytes: 9, bytes_filled: 7, is_measured: false };
  const stage = (round: number, variant: string, seconds: number | null) => ({
    ...{ ...made, ordinal: round, round, variant, make_seconds_estimated: seconds },
  });
  const rows = variantsOf([stage(1, "a", 60), stage(1, "b", 5), stage(2, "b", null), stage(2, "a", 30)]);
  expect(rows.map(({ variant, seconds, filled }) => [variant, seconds, filled])).toEqual([
    ["a", 90, 14],
    ["b", null, 14],
  ]);
});
