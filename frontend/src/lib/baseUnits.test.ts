import { afterEach, expect, it } from "vitest";
import { baseUnitOf, inBaseUnit } from "./baseUnits";
import { RATE_UNITS, setPreferences } from "./preferences";
import { scaleFor, type Unit } from "./units";

const SIZES = [1e-9, 1e-5, 0.01, 1, 1e3, 1e5, 1e7, 1e10, 1e13, 1e16];

afterEach(() => setPreferences({ rates: "decimal" }));

it.each<Unit>(["bytes_per_second", "operations_per_second", "seconds", "bytes", "ratio"])(
  "reads every scale of %s back, whatever units its reader chose",
  (unit) => {
    for (const rates of RATE_UNITS) {
      setPreferences({ rates });
      for (const size of SIZES) {
        const { name, divisor } = scaleFor(unit, size);
        expect(baseUnitOf(name)).toEqual({ unit, factor: divisor });
      }
    }
  },
);

it("rejects unknown units", () => {
  expect(baseUnitOf("UTC")).toBeUndefined();
});

it("adds no noise to a number", () => {
  expect(inBaseUnit(1.1, 1e6)).toBe(1_100_000);
  expect(inBaseUnit(118.234112, 1e6)).toBe(118_234_112);
  expect(inBaseUnit(8.18, 1e-6)).toBe(0.00000818);
  expect(inBaseUnit(-4.2, 0.01)).toBe(-0.042);
  expect(inBaseUnit(0, 1e6)).toBe(0);
});
