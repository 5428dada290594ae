import { describe, expect, it } from "vitest";
import {
  exactBytes,
  exactRate,
  exactSeconds,
  exactValue,
  formatDuration,
  formatScaled,
  formatValue,
  parseBytes,
  parseRate,
  parseSeconds,
  scaleFor,
  UnitError,
} from "./units";

describe("parseBytes", () => {
  it.each([
    ["4096", 4096],
    ["64 MiB", 64 * 1024 ** 2],
    ["64mib", 64 * 1024 ** 2],
    ["16MB", 16_000_000],
    ["1.5 GiB", 1.5 * 1024 ** 3],
    ["1.1 kB", 1100],
    ["0", 0],
  ])("reads %s", (text, expected) => {
    expect(parseBytes(text)).toBe(expected);
  });

  it.each(["", "64 M", "64 MiBs", "1e3", "0.5", "1.0001 kB", "MiB", "--1"])(
    "refuses %j and says what is accepted",
    (text) => {
      expect(() => parseBytes(text)).toThrow(UnitError);
      expect(() => parseBytes(text)).toThrow(/KiB, MiB/);
    },
  );
});

it("reads durations with and without a unit", () => {
  expect(parseSeconds("90")).toBe(90);
  expect(parseSeconds("10 min")).toBe(600);
  expect(parseSeconds("1.5h")).toBe(5400);
  expect(() => parseSeconds("1 week")).toThrow(/ms, s, min/);
});

it("reads a rate in bits or bytes, and refuses what could be either", () => {
  expect(parseRate("4096 Mbit/s")).toBe(512_000_000);
  expect(parseRate("1.1 kB/s")).toBe(1100);
  expect(parseRate("8 bit/s")).toBe(1);
  expect(parseRate("125000")).toBe(125_000);
  for (const text of ["512 Mb/s", "512 Mbit", "4 bit/s", "fast", ""])
    expect(() => parseRate(text)).toThrow(/Mbit\/s, Gbit\/s/);
});

it("writes a rate so that reading it gives the same rate", () => {
  for (const rate of [0, 1, 125_000, 512_000_000, 1_234_567]) expect(parseRate(exactRate(rate))).toBe(rate);
  expect(exactRate(512_000_000)).toBe("4096 Mbit/s");
});

it("writes a size so that reading it gives the same size", () => {
  for (const sizeBytes of [
    0,
    1,
    512,
    1000,
    1024,
    4096,
    16_000_000,
    64 * 1024 ** 2,
    1_234_567,
    3 * 1024 ** 4,
  ]) {
    expect(parseBytes(exactBytes(sizeBytes))).toBe(sizeBytes);
  }
  expect(exactBytes(64 * 1024 ** 2)).toBe("64 MiB");
  expect(exactBytes(16_000_000)).toBe("16 MB");
  expect(exactBytes(65_536)).toBe("64 KiB");
  expect(exactBytes(512)).toBe("512 B");
  expect(exactBytes(0)).toBe("0 B");
});

it("writes a duration so that reading it gives the same duration", () => {
  for (const seconds of [0, 0.5, 1, 90, 600, 3600, 5400, 86_400, 100_000]) {
    expect(parseSeconds(exactSeconds(seconds))).toBe(seconds);
  }
  expect(exactSeconds(3600)).toBe("1 h");
});

it("puts the numbers of a column on one scale", () => {
  const scale = scaleFor("bytes_per_second", 2e9);
  expect([2e9, 5e6].map((value) => formatScaled(value, scale))).toEqual(["2.00 GB/s", "0.00500 GB/s"]);
});

describe("formatValue", () => {
  it.each([
    [118_234_112, "bytes_per_second", "118 MB/s"],
    [1024 ** 3, "bytes", "1 GiB"],
    [1000 * 1024 ** 2, "bytes", "1,000 MiB"],
    [0.0123, "seconds", "12.3 ms"],
    [0, "seconds", "0 s"],
    [22_345.6, "operations_per_second", "22,346 op/s"],
    [0.0567, "ratio", "5.67 %"],
    [12, "count", "12"],
  ] as const)("shows %d %s as %s", (value, unit, expected) => {
    expect(formatValue(value, unit)).toBe(expected);
  });
});

it("keeps the exact value for the hover", () => {
  expect(exactValue(118_234_112, "bytes_per_second")).toBe("118,234,112 bytes per second");
});

it("scales an axis by its largest value, rates by 1000 and sizes by 1024", () => {
  expect(scaleFor("bytes_per_second", 2.5e9)).toEqual({ divisor: 1e9, name: "GB/s" });
  expect(scaleFor("bytes", 1536)).toEqual({ divisor: 1024, name: "KiB" });
});

it.each([
  [4.2, "4.2 s"],
  [200, "3 min 20 s"],
  [59.7, "59.7 s"],
  [30_960, "8 h 36 min"],
  [86_400, "1 d"],
])("shows %d seconds as %s", (seconds, expected) => {
  expect(formatDuration(seconds)).toBe(expected);
});
