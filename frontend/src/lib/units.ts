/** The one place where numbers with units are read and shown; the same rules as iotide_wire.units on the server. */

import { t } from "@lingui/core/macro";
import { preferences, type RateUnits } from "./preferences";

export type Unit = "bytes_per_second" | "operations_per_second" | "seconds" | "bytes" | "count" | "ratio";

/** A stored value becomes `value / divisor` of the unit called `name`. */
export interface Scale {
  readonly divisor: number;
  readonly name: string;
}

const BINARY_NAMES = ["B", "KiB", "MiB", "GiB", "TiB", "PiB"];
/** Names of rates, how far each is from the one before, and how many of the smallest a byte per second is. */
const RATES: Readonly<Record<RateUnits, { names: readonly string[]; step: number; perByte: number }>> = {
  decimal: { names: ["B/s", "kB/s", "MB/s", "GB/s", "TB/s"], step: 1000, perByte: 1 },
  binary: { names: ["B/s", "KiB/s", "MiB/s", "GiB/s", "TiB/s"], step: 1024, perByte: 1 },
  bits: { names: ["bit/s", "kbit/s", "Mbit/s", "Gbit/s", "Tbit/s"], step: 1000, perByte: 8 },
};
const QUANTITY = /^\s*(-?\d+(?:\.\d+)?)\s*([A-Za-z]*)\s*$/;
const SECONDS_BY_UNIT: Readonly<Record<string, number>> = {
  "": 1,
  ms: 0.001,
  us: 0.000_001,
  s: 1,
  m: 60,
  min: 60,
  h: 3600,
  d: 86_400,
};
const RATE = /^\s*(-?\d+(?:\.\d+)?)\s*(?:([A-Za-z]+)\/s)?\s*$/;
const BYTES_PER_SECOND_BY_UNIT: Readonly<Record<string, number>> = {
  "": 1,
  bit: 0.125,
  kbit: 125,
  Mbit: 125_000,
  Gbit: 125_000_000,
  Tbit: 125_000_000_000,
  B: 1,
  kB: 1000,
  MB: 1_000_000,
  GB: 1_000_000_000,
  TB: 1_000_000_000_000,
  KiB: 1024,
  MiB: 1024 ** 2,
  GiB: 1024 ** 3,
  TiB: 1024 ** 4,
};
const SIZE_REMEDY = t`write a whole number of bytes, or one with KiB, MiB, GiB, TiB (1024) or kB, MB, GB, TB (1000)`;
const RATE_REMEDY = t`write one, or a number with kbit/s, Mbit/s, Gbit/s, kB/s, MB/s, GB/s (1000) or KiB/s, MiB/s, GiB/s (1024)`;
const DURATION_REMEDY = t`write seconds, or a number with ms, s, min, h or d`;

/** A text is no quantity; the message says what would be accepted. */
export class UnitError extends Error {}

/** Bytes from `4096`, `64 MiB` or `1.5 GB`; a bare `M` is refused, since dd means 1024² by it and most people 1000². */
export function parseBytes(text: string): number {
  const match = QUANTITY.exec(text);
  const factor = byteFactor(match?.[2] ?? "?");
  if (!match?.[1] || factor === undefined) throw new UnitError(`“${text}” is not a size; ${SIZE_REMEDY}`);
  const sizeBytes = multiplyDecimal(match[1], factor);
  if (!Number.isSafeInteger(sizeBytes))
    throw new UnitError(`“${text}” is not a whole number of bytes; ${SIZE_REMEDY}`);
  return sizeBytes;
}

/** Bytes per second from `4096 Mbit/s` or `1.5 GB/s`; `Mb/s` is refused, since it means bits to some and bytes to others. */
export function parseRate(text: string): number {
  const match = RATE.exec(text);
  const factor = BYTES_PER_SECOND_BY_UNIT[match?.[2] ?? ""];
  const rate = match?.[1] && factor !== undefined ? multiplyDecimal(match[1], factor * 8) / 8 : Number.NaN;
  if (!Number.isSafeInteger(rate))
    throw new UnitError(`“${text}” is not a whole number of bytes per second; ${RATE_REMEDY}`);
  return rate;
}

/** Seconds from `90`, `1.5 s`, `10 min` or `2h`. */
export function parseSeconds(text: string): number {
  const match = QUANTITY.exec(text);
  const factor = SECONDS_BY_UNIT[match?.[2]?.toLowerCase() ?? "?"];
  if (!match?.[1] || factor === undefined)
    throw new UnitError(`“${text}” is not a duration; ${DURATION_REMEDY}`);
  return Number(match[1]) * factor;
}

function byteFactor(unit: string): number | undefined {
  const lower = unit.toLowerCase();
  if (lower === "" || lower === "b") return 1;
  const match = /^([kmgtp])(i?)b$/.exec(lower);
  if (!match?.[1]) return undefined;
  return (match[2] ? 1024 : 1000) ** ("kmgtp".indexOf(match[1]) + 1);
}

/** `digits * factor` without the rounding of binary fractions, so that 1.1 kB is 1100 bytes. */
function multiplyDecimal(digits: string, factor: number): number {
  const [whole = "", fraction = ""] = digits.split(".");
  return (Number(whole + fraction) * factor) / 10 ** fraction.length;
}

/** The text with the smallest number that means exactly `sizeBytes`: `64 MiB`, `16 MB`, `512 B`. */
export function exactBytes(sizeBytes: number): string {
  const exact = ["B", "KiB", "MiB", "GiB", "TiB", "kB", "MB", "GB", "TB"]
    .map((unit) => ({ unit, number: sizeBytes / (byteFactor(unit) ?? 1) }))
    .filter(({ number }) => Number.isInteger(number));
  const [best = { unit: "B", number: sizeBytes }] = exact.sort((a, b) => a.number - b.number);
  return `${best.number} ${best.unit}`;
}

/** The rate in Mbit/s, as people say it of networks, where that is a whole number: `4096 Mbit/s`, `1000 B/s`. */
export function exactRate(bytesPerSecond: number): string {
  const megabits = bytesPerSecond / 125_000;
  return Number.isInteger(megabits) ? `${megabits} Mbit/s` : `${bytesPerSecond} B/s`;
}

/** The shortest text that means exactly `seconds`: `1 h`, `90 s`, `0.5 s`. */
export function exactSeconds(seconds: number): string {
  const units = [
    { name: "d", factor: 86_400 },
    { name: "h", factor: 3600 },
    { name: "min", factor: 60 },
  ];
  const unit = units.find(({ factor }) => seconds !== 0 && seconds % factor === 0);
  return unit ? `${seconds / unit.factor} ${unit.name}` : `${seconds} s`;
}

/** The scale that keeps `largest` readable; every value of one axis or table shares it. */
export function scaleFor(unit: Unit, largest: number): Scale {
  switch (unit) {
    case "bytes_per_second":
      return rateScale(largest);
    case "bytes":
      return stepScale(BINARY_NAMES, 1024, largest);
    case "seconds":
      return secondsScale(largest);
    case "operations_per_second":
      return { divisor: 1, name: "op/s" };
    case "ratio":
      return { divisor: 0.01, name: "%" };
    case "count":
      return { divisor: 1, name: "" };
  }
}

function rateScale(largest: number): Scale {
  const { names, step, perByte } = RATES[preferences().rates];
  const { divisor, name } = stepScale(names, step, largest * perByte);
  return { divisor: divisor / perByte, name };
}

function stepScale(names: readonly string[], step: number, largest: number): Scale {
  let power = 0;
  while (power < names.length - 1 && Math.abs(largest) >= step ** (power + 1)) power += 1;
  return { divisor: step ** power, name: names[power] ?? "" };
}

function secondsScale(largest: number): Scale {
  if (largest !== 0 && Math.abs(largest) < 0.001) return { divisor: 0.000_001, name: "µs" };
  if (largest !== 0 && Math.abs(largest) < 1) return { divisor: 0.001, name: "ms" };
  return { divisor: 1, name: "s" };
}

/** A number with three significant digits, and never fewer digits than its whole part has. */
export function formatNumber(value: number): string {
  if (Math.abs(value) >= 1000) return Math.round(value).toLocaleString("en-US");
  return value.toLocaleString("en-US", { maximumSignificantDigits: 3 });
}

/** A stored value for a person: `118 MB/s`, `64 MiB`, `2.1 s`. */
export function formatValue(value: number, unit: Unit): string {
  const scale = scaleFor(unit, value);
  return withUnit(formatNumber(value / scale.divisor), scale);
}

/** A stored value on the scale that it shares with others, with as many digits as they have: `0.460 GB/s`. */
export function formatScaled(value: number, scale: Scale): string {
  const scaled = value / scale.divisor;
  if (!scale.name || Math.abs(scaled) >= 1000) return withUnit(formatNumber(scaled), scale);
  const digits = { minimumSignificantDigits: 3, maximumSignificantDigits: 3 };
  return withUnit(scaled.toLocaleString("en-US", digits), scale);
}

function withUnit(number: string, scale: Scale): string {
  return scale.name ? `${number} ${scale.name}` : number;
}

/** The stored value in full, for a hover: `118,234,112 bytes per second`. */
export function exactValue(value: number, unit: Unit): string {
  const number = value.toLocaleString("en-US", { maximumFractionDigits: 9 });
  return unit === "count" || unit === "ratio" ? number : `${number} ${unit.replaceAll("_", " ")}`;
}

/** A probability of a test: `0.0123`, `< 0.0001`. */
export function formatP(p: number): string {
  return p < 0.0001 ? "< 0.0001" : p.toFixed(4);
}

/** A ratio of two numbers as how far the one is from the other: `+12.0 %`. */
export function formatShift(ratio: number): string {
  const percent = (ratio - 1) * 100;
  return `${percent < 0 ? "−" : "+"}${Math.abs(percent).toFixed(1)} %`;
}

/** A duration for a person: `4.2 s`, `3 min 20 s`, `8 h 36 min`, `2 d 3 h`. */
export function formatDuration(seconds: number): string {
  if (seconds < 60) return formatValue(seconds, "seconds");
  const whole = Math.round(seconds);
  const days = Math.floor(whole / 86_400);
  const hours = Math.floor((whole % 86_400) / 3600);
  const minutes = Math.floor((whole % 3600) / 60);
  if (days > 0) return joinParts(days, "d", hours, "h");
  if (hours > 0) return joinParts(hours, "h", minutes, "min");
  return joinParts(minutes, "min", whole % 60, "s");
}

function joinParts(large: number, largeUnit: string, small: number, smallUnit: string): string {
  return small > 0 ? `${large} ${largeUnit} ${small} ${smallUnit}` : `${large} ${largeUnit}`;
}
