/** Parsing and formatting of quantities, with the same rules as iotide_wire.units. */

import { t } from "@lingui/core/macro";
import { preferences, type RateUnits } from "./preferences";

export type Unit = "bytes_per_second" | "operations_per_second" | "seconds" | "bytes" | "count" | "ratio";

/** Displayed value = stored value / divisor. */
export interface Scale {
  readonly divisor: number;
  readonly name: string;
}

/** Numbers from here on have four digits before the point. */
const FOUR_DIGITS = 999.5;
const OPERATION_NAMES = ["op/s", "kop/s", "Mop/s", "Gop/s"];
const BINARY_NAMES = ["B", "KiB", "MiB", "GiB", "TiB", "PiB"];
/** Rate units, the factor between them, and how many of the smallest unit are one byte per second. */
const RATES: Readonly<Record<RateUnits, { names: readonly string[]; step: number; perByte: number }>> = {
  decimal: { names: ["B/s", "kB/s", "MB/s", "GB/s", "TB/s"], step: 1000, perByte: 1 },
  binary: { names: ["B/s", "KiB/s", "MiB/s", "GiB/s", "TiB/s"], step: 1024, perByte: 1 },
  bits: { names: ["bit/s", "kbit/s", "Mbit/s", "Gbit/s", "Tbit/s"], step: 1000, perByte: 8 },
};
const QUANTITY = /^\s*(-?\d+(?:\.\d+)?)\s*([A-Za-z]*)\s*$/;
const BARE_LETTER = /^\s*(\d+(?:\.\d+)?)\s*([kmgtp])\s*$/i;
const SECONDS_BY_UNIT: Readonly<Record<string, number>> = {
  "": 1,
  ms: 0.001,
  us: 0.000_001,
  s: 1,
  m: 60,
  min: 60,
  h: 3600,
  hour: 3600,
  hours: 3600,
  d: 86_400,
  day: 86_400,
  days: 86_400,
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
const SIZE_REMEDY = t`Enter a whole number of bytes, or a number with KiB, MiB, GiB, TiB (1024) or kB, MB, GB, TB (1000)`;
const RATE_REMEDY = t`Enter a number, or a number with kbit/s, Mbit/s, Gbit/s, kB/s, MB/s, GB/s (1000) or KiB/s, MiB/s, GiB/s (1024)`;
const DURATION_REMEDY = t`Enter seconds, or a number with ms, s, min, h or d`;

/** The message lists the accepted forms. */
export class UnitError extends Error {}

/** Parses `4096`, `64 MiB` or `1.5 GB`. A bare `M` is refused: dd means 1024², most users mean 1000². */
export function parseBytes(text: string): number {
  const match = QUANTITY.exec(text);
  const factor = byteFactor(match?.[2] ?? "?");
  if (!match?.[1] || factor === undefined) throw new UnitError(`“${text}” is not a size. ${SIZE_REMEDY}`);
  const sizeBytes = multiplyDecimal(match[1], factor);
  if (!Number.isSafeInteger(sizeBytes))
    throw new UnitError(`“${text}” is not a whole number of bytes. ${SIZE_REMEDY}`);
  return sizeBytes;
}

/** Return `64M`, as dd and fio take it, as `64 MiB`; other texts unchanged. For inputs that show what it means. */
export function spellSize(text: string): string {
  const [, number, letter] = BARE_LETTER.exec(text) ?? [];
  return number && letter ? `${number} ${letter.toUpperCase()}iB` : text;
}

/** Parses `4096 Mbit/s` or `1.5 GB/s`. `Mb/s` is refused because it is ambiguous between bits and bytes. */
export function parseRate(text: string): number {
  const match = RATE.exec(text);
  const factor = BYTES_PER_SECOND_BY_UNIT[match?.[2] ?? ""];
  const rate = match?.[1] && factor !== undefined ? multiplyDecimal(match[1], factor * 8) / 8 : Number.NaN;
  if (!Number.isSafeInteger(rate))
    throw new UnitError(`“${text}” is not a whole number of bytes per second. ${RATE_REMEDY}`);
  return rate;
}

/** Parses `90`, `1.5 s`, `10 min` or `2h`. */
export function parseSeconds(text: string): number {
  const match = QUANTITY.exec(text);
  const factor = SECONDS_BY_UNIT[match?.[2]?.toLowerCase() ?? "?"];
  if (!match?.[1] || factor === undefined)
    throw new UnitError(`“${text}” is not a duration. ${DURATION_REMEDY}`);
  return Number(match[1]) * factor;
}

/** Error of a duration input, or `words` if `isGood` rejects its seconds; null if valid. */
export function durationProblem(
  text: string,
  isGood: (seconds: number) => boolean,
  words: string,
): string | null {
  try {
    return isGood(parseSeconds(text)) ? null : words;
  } catch (error) {
    if (error instanceof UnitError) return error.message;
    throw error;
  }
}

function byteFactor(unit: string): number | undefined {
  const lower = unit.toLowerCase();
  if (lower === "" || lower === "b") return 1;
  const match = /^([kmgtp])(i?)b$/.exec(lower);
  if (!match?.[1]) return undefined;
  return (match[2] ? 1024 : 1000) ** ("kmgtp".indexOf(match[1]) + 1);
}

/** `digits * factor` without binary rounding, so that 1.1 kB is 1100 bytes. */
function multiplyDecimal(digits: string, factor: number): number {
  const [whole = "", fraction = ""] = digits.split(".");
  return (Number(whole + fraction) * factor) / 10 ** fraction.length;
}

/** Shortest exact text: `64 MiB`, `16 MB`, `512 B`. */
export function exactBytes(sizeBytes: number): string {
  const exact = ["B", "KiB", "MiB", "GiB", "TiB", "kB", "MB", "GB", "TB"]
    .map((unit) => ({ unit, number: sizeBytes / (byteFactor(unit) ?? 1) }))
    .filter(({ number }) => Number.isInteger(number));
  const [best = { unit: "B", number: sizeBytes }] = exact.sort((a, b) => a.number - b.number);
  return `${best.number} ${best.unit}`;
}

/** Rate in Mbit/s if that is a whole number, else in bytes: `4096 Mbit/s`, `1000 B/s`. */
export function exactRate(bytesPerSecond: number): string {
  const megabits = bytesPerSecond / 125_000;
  return Number.isInteger(megabits) ? `${megabits} Mbit/s` : `${bytesPerSecond} B/s`;
}

/** Shortest exact text: `1 h`, `90 s`, `0.5 s`. */
export function exactSeconds(seconds: number): string {
  const units = [
    { name: "d", factor: 86_400 },
    { name: "h", factor: 3600 },
    { name: "min", factor: 60 },
  ];
  const unit = units.find(({ factor }) => seconds !== 0 && seconds % factor === 0);
  return unit ? `${seconds / unit.factor} ${unit.name}` : `${seconds} s`;
}

/** Common scale of an axis, chosen by its largest value. */
export function scaleFor(unit: Unit, largest: number): Scale {
  switch (unit) {
    case "bytes_per_second":
      return rateScale(largest);
    case "bytes":
      return stepScale(BINARY_NAMES, 1024, largest);
    case "seconds":
      return secondsScale(largest);
    case "operations_per_second":
      return stepScale(OPERATION_NAMES, 1000, largest);
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

/** Values that would round up to a full step use the next unit: 1 MB/s instead of 1,000 kB/s. */
function stepScale(names: readonly string[], step: number, largest: number): Scale {
  let power = 0;
  while (power < names.length - 1 && Math.abs(largest) / step ** power >= step - 0.5) power += 1;
  return { divisor: step ** power, name: names[power] ?? "" };
}

function secondsScale(largest: number): Scale {
  const size = Math.abs(largest);
  if (size > 0 && size / 1e-6 < FOUR_DIGITS) return { divisor: 1e-6, name: "us" };
  if (size > 0 && size / 1e-3 < FOUR_DIGITS) return { divisor: 1e-3, name: "ms" };
  return { divisor: 1, name: "s" };
}

/** Three significant digits, or all digits before the point: `0.0125`, `1,250`. */
export function formatNumber(value: number): string {
  const size = Math.abs(value);
  const sign = value < 0 ? "-" : "";
  if (size >= FOUR_DIGITS) return sign + Math.round(size).toLocaleString("en-US");
  // toPrecision rounds the exact value like Python; toLocaleString would round its own output.
  return sign + Number(size.toPrecision(3)).toLocaleString("en-US", { maximumFractionDigits: 20 });
}

/** A value in a suitable unit: `118 MB/s`, `64 MiB`, `8.18 us`. */
export function formatValue(value: number, unit: Unit): string {
  if (unit === "seconds" && value >= FOUR_DIGITS) return formatDuration(value);
  const scale = scaleFor(unit, value);
  const number = formatNumber(unit === "ratio" ? value * 100 : value / scale.divisor);
  return scale.name ? `${number} ${scale.name}` : number;
}

/** The exact value for tooltips, without floating-point noise. */
export function exactValue(value: number, unit: Unit): string {
  const digits = Number.isInteger(value) ? {} : { maximumSignificantDigits: 10 };
  const number = value.toLocaleString("en-US", digits);
  return unit === "count" || unit === "ratio" ? number : `${number} ${unit.replaceAll("_", " ")}`;
}

/** A p-value: `0.0123`, `< 0.0001`. */
export function formatP(p: number): string {
  return p < 0.0001 ? "< 0.0001" : p.toFixed(4);
}

/** A ratio as a relative difference: `+12.0 %`, `+380 %`. */
export function formatShift(ratio: number): string {
  const percent = (ratio - 1) * 100;
  const size = Math.abs(percent);
  const shown = size >= 99.95 ? Math.round(size).toLocaleString("en-US") : size.toFixed(1);
  if (shown === "0.0") return "0.0 %";
  return `${percent < 0 ? "−" : "+"}${shown} %`;
}

/** A ratio as a factor: `4.80`, `0.955`, `48.0`. */
export function formatFactor(factor: number): string {
  if (Math.abs(factor) >= FOUR_DIGITS) return formatNumber(factor);
  return factor === 0 ? "0" : factor.toPrecision(3);
}

/** A factor without an interval, with two digits: `4.2`, `0.58`. */
export function formatRoughFactor(factor: number): string {
  return factor >= 1 ? factor.toFixed(1) : factor.toPrecision(2);
}

/** Return a ratio in percent, without the percent sign: one digit after the point below 10. */
export function formatRoughPercent(ratio: number): string {
  const percent = Math.abs(ratio) * 100;
  const shown = percent < 9.95 ? percent.toFixed(1) : Math.round(percent).toLocaleString("en-US");
  return ratio < 0 ? `−${shown}` : shown;
}

/** A count: `12,400`. */
export function formatCount(count: number): string {
  return count.toLocaleString("en-US");
}

/** A coordinate for SVG attributes: `12.3`. */
export function coordinate(pixels: number): string {
  return pixels.toFixed(1);
}

/** A duration: `4.2 s`, `3 min 20 s`, `8 h 36 min`, `2 d 3 h`. */
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

/** An estimated duration with two significant digits: `22 s`, `17 min`, `2.3 h`. */
export function formatEstimate(seconds: number): string {
  if (seconds < 1) return `${twoDigits(seconds * 1000)} ms`;
  if (seconds < 90) return `${twoDigits(seconds)} s`;
  if (seconds < 5400) return `${twoDigits(seconds / 60)} min`;
  if (seconds < 172_800) return `${twoDigits(seconds / 3600)} h`;
  return `${twoDigits(seconds / 86_400)} d`;
}

/** A relative spread with two digits: `±24 %`, `±4.1 %`. */
export function formatSpread(ratio: number): string {
  return `±${twoDigits(ratio * 100)} %`;
}

function twoDigits(value: number): string {
  return value.toLocaleString("en-US", { maximumSignificantDigits: 2 });
}

function joinParts(large: number, largeUnit: string, small: number, smallUnit: string): string {
  return small > 0 ? `${large} ${largeUnit} ${small} ${smallUnit}` : `${large} ${largeUnit}`;
}
