import { afterEach, expect, it, vi } from "vitest";
import { onPreferences, preferences, setPreferences } from "./preferences";
import { formatExactTime, fromLocalTime, localTime, shownTimeZone } from "./time";
import { formatValue, scaleFor } from "./units";

afterEach(() => setPreferences({ rates: "decimal", zone: null }));

it.each([
  ["decimal", "125 MB/s"],
  ["binary", "119 MiB/s"],
  ["bits", "1 Gbit/s"],
] as const)("shows rates in %s units wherever they are shown", (rates, expected) => {
  setPreferences({ rates });
  expect(formatValue(125e6, "bytes_per_second")).toBe(expected);
});

it("changes only rates", () => {
  setPreferences({ rates: "bits" });
  expect(scaleFor("bytes", 2 ** 20)).toEqual({ divisor: 2 ** 20, name: "MiB" });
  expect(formatValue(12, "operations_per_second")).toBe("12 op/s");
});

it("shows times in the selected time zone", () => {
  setPreferences({ zone: "Asia/Kathmandu" });
  expect(localTime("2026-11-21T11:07:15.250Z")).toBe("2026-11-21T16:52:15.250");
  expect(formatExactTime("2026-11-21T11:07:15Z")).toContain("16:52:15");
  expect(shownTimeZone()).toBe("Asia/Kathmandu");
});

it.each(["UTC", "Asia/Kathmandu", "America/New_York", null])("reads back in %s what it shows", (zone) => {
  setPreferences({ zone });
  for (const at of ["2026-03-08T05:59:00.000Z", "2026-03-08T07:30:00.000Z", "2026-11-21T11:07:15.250Z"])
    expect(fromLocalTime(localTime(at))).toBe(at);
});

it("reads the times that plotly writes", () => {
  setPreferences({ zone: "UTC" });
  expect(fromLocalTime("2026-11-21")).toBe("2026-11-21T00:00:00.000Z");
  expect(fromLocalTime("2026-11-21 10:46")).toBe("2026-11-21T10:46:00.000Z");
  expect(fromLocalTime("2026-11-21 10:46:07.5")).toBe("2026-11-21T10:46:07.500Z");
});

it("reports and stores changes, also those of other tabs", () => {
  const listener = vi.fn();
  const leave = onPreferences(listener);
  setPreferences({ rates: "bits" });
  localStorage.setItem("iotide-display", JSON.stringify({ rates: "binary", zone: "no such zone" }));
  dispatchEvent(new StorageEvent("storage", { key: "iotide-display" }));
  expect(listener).toHaveBeenCalledTimes(2);
  expect(preferences()).toEqual({ rates: "binary", zone: null });
  leave();
});
