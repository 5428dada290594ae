/** Conversion of displayed units back to base units, for exports. */

import type { Unit } from "./units";

interface BaseUnit {
  readonly unit: Unit;
  /** Factor to the base unit. */
  readonly factor: number;
}

const KEPT_DIGITS = 15;
const PREFIXES = ["", "k", "M", "G", "T"];
const BINARY = ["Ki", "Mi", "Gi", "Ti", "Pi"];
const SCALES: ReadonlyMap<string, BaseUnit> = new Map([
  ...PREFIXES.flatMap((prefix, power): [string, BaseUnit][] => [
    [`${prefix}B/s`, { unit: "bytes_per_second", factor: 1000 ** power }],
    [`${prefix}bit/s`, { unit: "bytes_per_second", factor: 1000 ** power / 8 }],
    [`${prefix}op/s`, { unit: "operations_per_second", factor: 1000 ** power }],
  ]),
  ...BINARY.flatMap((prefix, power): [string, BaseUnit][] => [
    [`${prefix}B`, { unit: "bytes", factor: 1024 ** (power + 1) }],
    [`${prefix}B/s`, { unit: "bytes_per_second", factor: 1024 ** (power + 1) }],
  ]),
  ["B", { unit: "bytes", factor: 1 }],
  ["us", { unit: "seconds", factor: 1e-6 }],
  ["ms", { unit: "seconds", factor: 1e-3 }],
  ["s", { unit: "seconds", factor: 1 }],
  ["%", { unit: "ratio", factor: 0.01 }],
]);

/** Undefined for an unknown unit. */
export function baseUnitOf(scaleName: string): BaseUnit | undefined {
  return SCALES.get(scaleName);
}

/** Multiplies without binary rounding noise: 1.1 MB/s is 1100000. */
export function inBaseUnit(value: number, factor: number): number {
  const exact = value * factor;
  if (exact === 0 || !Number.isFinite(exact)) return exact;
  const digits = 10 ** (KEPT_DIGITS - 1 - Math.floor(Math.log10(Math.abs(exact))));
  return Math.round(exact * digits) / digits;
}
