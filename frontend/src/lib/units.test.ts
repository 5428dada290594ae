import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import {
  exactBytes,
  exactRate,
  exactSeconds,
  exactValue,
  formatDuration,
  formatFactor,
  formatP,
  formatShift,
  formatValue,
  parseBytes,
  parseRate,
  parseSeconds,
  scaleFor,
  type Unit,
  UnitError,
} from "./units";

type Numbers = readonly (readonly [number, string])[];

/** The server's tests read the same table. */
const CASES = JSON.parse(
  readFileSync(new URL("../../../tests/data/units.json", import.meta.url), "utf-8"),
) as Readonly<
  Record<"durations" | "shifts" | "factors" | "probabilities", Numbers> & {
    values: (readonly [number, Unit, string])[];
  }
>;

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

it("reads a rate in bits or bytes, and refuses ambiguous units", () => {
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

it.each(CASES.values)("shows %d %s as %s, as the server does", (value, unit, expected) => {
  expect(formatValue(value, unit)).toBe(expected);
});

it("shows durations, shifts, factors and probabilities as the server does", () => {
  for (const [value, expected] of CASES.durations) expect(formatDuration(value)).toBe(expected);
  for (const [value, expected] of CASES.shifts) expect(formatShift(value)).toBe(expected);
  for (const [value, expected] of CASES.factors) expect(formatFactor(value)).toBe(expected);
  for (const [value, expected] of CASES.probabilities) expect(formatP(value)).toBe(expected);
});

it("keeps the exact value for the hover", () => {
  expect(exactValue(118_234_112, "bytes_per_second")).toBe("118,234,112 bytes per second");
  expect(exactValue(1_388_428_613.9892085, "bytes_per_second")).toBe("1,388,428,614 bytes per second");
  expect(exactValue(1_099_511_627_777, "bytes")).toBe("1,099,511,627,777 bytes");
});

it("scales an axis by its largest value, rates by 1000 and sizes by 1024", () => {
  expect(scaleFor("bytes_per_second", 2.5e9)).toEqual({ divisor: 1e9, name: "GB/s" });
  expect(scaleFor("bytes", 1536)).toEqual({ divisor: 1024, name: "KiB" });
});
