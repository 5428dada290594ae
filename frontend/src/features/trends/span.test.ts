import { expect, it } from "vitest";
import { presetOf, presetSpan, spanWords } from "./span";

const NOW = Date.parse("2026-11-27T10:00:00Z");

it("recognizes a preset all day long, and everything", () => {
  const span = presetSpan(30, NOW);
  expect(presetOf(span, NOW + 3_600_000)).toBe(30);
  expect(presetOf({}, NOW)).toBe(0);
  expect(presetOf({ ...span, to: "2026-11-20T00:00:00Z" }, NOW)).toBeUndefined();
});

it("names a span by its days", () => {
  const from = "2026-08-01T12:00:00Z";
  expect(spanWords({ from, to: "2026-09-20T12:00:00Z" })).toBe("1 Aug 2026 – 20 Sep 2026");
  expect(spanWords({ from })).toBe("1 Aug 2026 – today");
});
