import { expect, it } from "vitest";
import { describeAmong, describeValues, optionValue, varyingNames } from "./options";

it("shows values with the unit that their name tells", () => {
  expect(describeValues({ file_size_bytes: 268_435_456, limit_seconds: 90, direct: "auto" })).toBe(
    "file size 256 MiB, limit 1 min 30 s, direct auto",
  );
  expect(optionValue("file_size_bytes", "64 MiB")).toBe("64 MiB");
  expect(optionValue("operations", ["write", "read"])).toBe("write + read");
  expect(optionValue("limit_seconds", null)).toBe("none");
  expect(optionValue("fsync", false)).toBe("no");
});

it("names only what differs between rows, also where a row lacks it", () => {
  expect(
    varyingNames([
      { size: 1, mode: "a" },
      { size: 2, mode: "a" },
    ]),
  ).toEqual(["size"]);
  expect(varyingNames([{ size: 1 }, { size: 1, jobs: 4 }])).toEqual(["jobs"]);
  expect(varyingNames([{ size: 1 }])).toEqual([]);
});

it("describes a row by what tells it from the others, and fully where nothing does", () => {
  const rows = [
    { size_bytes: 1024, mode: "a" },
    { size_bytes: 2048, mode: "a" },
  ];
  expect(describeAmong({ size_bytes: 1024, mode: "a" }, rows)).toBe("size 1 KiB");
  expect(describeAmong({ mode: "a" }, [{ mode: "a" }])).toBe("mode a");
});
