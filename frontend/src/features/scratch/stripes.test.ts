import { expect, it } from "vitest";
import { sizeWords, stripeWords } from "./stripes";

it("writes sizes of stripes exactly", () => {
  expect([0, 512, 196_608, 1_048_576, 1_179_648].map(sizeWords)).toEqual([
    "0 bytes",
    "512 bytes",
    "192 KiB",
    "1 MiB",
    "1152 KiB",
  ]);
});

it("names stripes as the mkfs of the file system does", () => {
  const blocks = { unit_blocks: 16, width_blocks: 48 };
  expect(stripeWords({ filesystem: "ext4", ...blocks }, 4096)).toBe("stride 16, stripe_width 48");
  expect(stripeWords({ filesystem: "xfs", ...blocks }, 4096)).toBe("su 64 KiB, sw 3");
  expect(stripeWords({ filesystem: "xfs", unit_blocks: 0, width_blocks: 0 }, 4096)).toBe("none");
});
