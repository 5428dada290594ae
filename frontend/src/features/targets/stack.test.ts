import { expect, it } from "vitest";
import type { TargetPlace } from "@/api/types";
import { layersOf } from "./stack";

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
