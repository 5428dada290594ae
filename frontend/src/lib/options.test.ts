import { expect, it } from "vitest";
import {
  describerAmong,
  describerByWorkload,
  describeValues,
  optionValue,
  plainTitle,
  varyingNames,
} from "./options";

it("shows values with the unit in their name", () => {
  expect(
    describeValues({ file_size_bytes: 268_435_456, limit_seconds: 90, direct: "auto" }, plainTitle),
  ).toBe("File size 256 MiB, Limit 1 min 30 s, Direct auto");
  expect(describeValues({ rate_bytes_per_second: 512_000_000 }, plainTitle)).toBe("Rate 4096 Mbit/s");
  expect(optionValue("file_size_bytes", "64 MiB")).toBe("64 MiB");
  expect(optionValue("operations", ["write", "read"])).toBe("write + read");
  expect(optionValue("limit_seconds", null)).toBe("none");
  expect(optionValue("fsync", false)).toBe("no");
  expect(optionValue("job_file", "[log]\nrw=write\nsize=1m\n")).toBe("[log] … (3 lines)");
  expect(optionValue("percentile", "p99_9")).toBe("p99.9");
});

it("uses the option titles of the workload", () => {
  const titleOf = (name: string) => ({ rw: "Pattern" })[name] ?? plainTitle(name);
  expect(describeValues({ rw: "randread", jobs: 4 }, titleOf)).toBe("Pattern randread, Jobs 4");
});

it("names only differences between rows, including missing values", () => {
  expect(
    varyingNames([
      { size: 1, mode: "a" },
      { size: 2, mode: "a" },
    ]),
  ).toEqual(["size"]);
  expect(varyingNames([{ size: 1 }, { size: 1, jobs: 4 }])).toEqual(["jobs"]);
  expect(varyingNames([{ size: 1 }])).toEqual([]);
});

it("describes a row by its differences, or fully if there are none", () => {
  const rows = [
    { size_bytes: 1024, mode: "a" },
    { size_bytes: 2048, mode: "a" },
  ];
  expect(describerAmong(rows, plainTitle)({ size_bytes: 1024, mode: "a" })).toBe("Size 1 KiB");
  expect(describerAmong([{ mode: "a" }], plainTitle)({ mode: "a" })).toBe("Mode a");
});

it("compares a row only with rows of its workload", () => {
  const rows = [
    { workload: "dd", options: { jobs: 1, flush: "none" } },
    { workload: "dd", options: { jobs: 2, flush: "none" } },
    { workload: "fio", options: { jobs: 8 } },
  ];
  expect(rows.map(describerByWorkload(rows, () => plainTitle))).toEqual(["Jobs 1", "Jobs 2", "Jobs 8"]);
});
