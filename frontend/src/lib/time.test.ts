import { expect, it } from "vitest";
import { elapsedSeconds, formatWhen } from "./time";

const NOW = Date.parse("2026-11-21T12:00:00Z");

it.each([
  ["2026-11-21T11:59:55Z", "just now"],
  ["2026-11-21T12:00:05Z", "just now"],
  ["2026-11-21T11:59:30Z", "30 s ago"],
  ["2026-11-21T11:56:20Z", "3 min ago"],
  ["2026-11-21T02:10:00Z", "9 h ago"],
])("shows %s as %s", (iso, expected) => {
  expect(formatWhen(iso, NOW)).toBe(expected);
});

it("shows the date of what is older than a day or still to come", () => {
  expect(formatWhen("2026-11-01T12:00:00Z", NOW)).toMatch(/1 Nov 2026/);
  expect(formatWhen("2026-11-22T12:00:00Z", NOW)).toMatch(/22 Nov 2026/);
});

it("measures what has passed, never less than nothing", () => {
  expect(elapsedSeconds("2026-11-21T11:59:00Z", NOW)).toBe(60);
  expect(elapsedSeconds("2026-11-21T12:00:01Z", NOW)).toBe(0);
});
