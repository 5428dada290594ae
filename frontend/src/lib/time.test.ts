import { afterEach, expect, it, vi } from "vitest";
import { elapsedSeconds, formatDay, formatWhen, localTime, timeZone } from "./time";

const NOW = Date.parse("2026-11-21T12:00:00Z");

afterEach(() => vi.unstubAllEnvs());

it.each([
  ["2026-11-21T11:59:55Z", "just now"],
  ["2026-11-21T12:00:05Z", "just now"],
  ["2026-11-21T11:59:30Z", "30 s ago"],
  ["2026-11-21T11:56:20Z", "3 min ago"],
  ["2026-11-21T02:10:00Z", "9 h ago"],
])("shows %s as %s", (iso, expected) => {
  expect(formatWhen(iso, NOW)).toBe(expected);
});

it("shows the date of times older than a day or in the future", () => {
  expect(formatWhen("2026-11-01T12:00:00Z", NOW)).toMatch(/1 Nov 2026/);
  expect(formatWhen("2026-11-22T12:00:00Z", NOW)).toMatch(/22 Nov 2026/);
});

it("abbreviates September like the server", () => {
  expect(formatDay("2026-09-07T12:00:00Z")).toBe("7 Sep 2026");
});

it("measures elapsed time, never negative", () => {
  expect(elapsedSeconds("2026-11-21T11:59:00Z", NOW)).toBe(60);
  expect(elapsedSeconds("2026-11-21T12:00:01Z", NOW)).toBe(0);
});

it("reads local times, with and without daylight saving", () => {
  vi.stubEnv("TZ", "Europe/Berlin");
  expect(localTime("2026-11-21T11:07:15.250000Z")).toBe("2026-11-21T12:07:15.250");
  expect(localTime("2026-07-31T23:30:00Z")).toBe("2026-08-01T01:30:00.000");
  expect(timeZone()).toBe("Europe/Berlin");
});
