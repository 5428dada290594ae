import { expect, it } from "vitest";
import type { TargetPlace } from "@/api/types";
import { adviceOf, layersOf } from "./stack";

function mount(fstype: string, facts: Record<string, unknown>): NonNullable<TargetPlace["mount"]> {
  const place = { mount_point: "/data", source: "/dev/md0", mount_options: "rw", fstype, facts };
  return place as unknown as NonNullable<TargetPlace["mount"]>;
}

it("shows each layer from the mount to the disks with its own geometry", () => {
  const layers = layersOf(
    mount("xfs", {
      "device.stack": "dm lvm / md raid5 / 3 x disk",
      "xfs.block_bytes": 4096,
      "lvm.target": "linear",
      "md.chunk_bytes": 524_288,
      "disk.model": "ST4000",
    }),
  );
  expect(layers).toEqual([
    { kind: "mount /data", facts: ["rw"] },
    { kind: "file system xfs", facts: ["/dev/md0", "block 4 KiB"] },
    { kind: "dm lvm", facts: ["target linear"] },
    { kind: "md raid5", facts: ["chunk 512 KiB"] },
    { kind: "3 x disk", facts: ["model ST4000"] },
  ]);
});

it("gives the options that fit a file system to the stripes below it", () => {
  const facts = {
    "fs.stripe_fits_device": false,
    "device.minimum_io_bytes": 65_536,
    "device.optimal_io_bytes": 196_608,
    "ext.block_bytes": 4096,
  };
  expect(adviceOf(mount("xfs", facts))).toEqual([
    expect.stringContaining("su=65536,sw=3, or mount /data with sunit=128,swidth=384"),
  ]);
  expect(adviceOf(mount("ext4", facts))).toEqual([expect.stringContaining("stride=16,stripe_width=48")]);
});

it("says what costs speed of an NFS mount, and nothing of one that is as it should be", () => {
  const slow = { "nfs.sync": true, "nfs.rsize_bytes": 524_288, "nfs.wsize_bytes": 1_048_576 };
  expect(adviceOf(mount("nfs4", slow))).toEqual([
    expect.stringContaining("without it"),
    expect.stringContaining("rsize=1048576"),
  ]);
  const good = { "nfs.sync": false, "nfs.rsize_bytes": 1_048_576, "fs.stripe_fits_device": true };
  expect(adviceOf(mount("nfs4", good))).toEqual([]);
});
