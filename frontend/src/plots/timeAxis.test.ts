import { expect, it } from "vitest";
import { localTime } from "@/lib/time";
import { commonGaps, endDay, gapShapes, gapWords, shownRange, timeRange } from "./timeAxis";

const NOW = Date.parse("2026-11-27T10:00:00Z");
const DEAD = { since: "2026-10-25T02:30:00Z", until: null };

it("ends now with margins on both sides", () => {
  const times = ["2026-05-31T02:30:00Z", "2026-10-25T02:30:00Z"];
  const [from, to] = timeRange(times, NOW).range ?? ["", ""];
  expect(from < localTime(times[0] ?? "")).toBe(true);
  expect(to >= localTime(NOW)).toBe(true);
});

it("names the end of its span, but no future day", () => {
  const since = "2026-10-01T00:00:00Z";
  expect(endDay({ end: NOW })).toBe("27 Nov 2026");
  expect(endDay({ span: { from: since, to: "2026-11-02T02:30:00Z" }, end: NOW })).toBe("2 Nov 2026");
  expect(endDay({ span: { from: since, to: "2026-12-05T02:30:00Z" }, end: NOW })).toBe("27 Nov 2026");
});

it("begins at the selected start and ends now if the span has no end, also without points", () => {
  const from = "2026-10-01T00:00:00Z";
  expect(shownRange([], { span: { from }, end: NOW }).range).toEqual([from, NOW].map(localTime));
  const { range } = shownRange([{ at: ["2026-11-01T00:00:00Z"] }], { span: { from }, end: NOW });
  expect(range?.[0]).toBe(localTime(from));
  expect((range?.[1] ?? "") >= localTime(NOW)).toBe(true);
});

it("includes points of nodes whose clock is ahead", () => {
  const ahead = "2026-11-27T12:00:00Z";
  expect((timeRange(["2026-11-01T00:00:00Z", ahead], NOW).range?.[1] ?? "") >= localTime(ahead)).toBe(true);
});

it("pads short ranges by half an hour, and has no range without points", () => {
  const at = "2026-11-27T09:50:00Z";
  expect(timeRange([at], NOW).range).toEqual(["2026-11-27T09:20:00Z", "2026-11-27T10:30:00Z"].map(localTime));
  expect(timeRange([], NOW)).toEqual({});
});

it("names a gap by its days", () => {
  expect(gapWords(DEAD)).toBe("no data 25 Oct 2026 – today");
  expect(gapWords({ ...DEAD, until: "2026-11-02T02:30:00Z" })).toBe("no data 25 Oct 2026 – 2 Nov 2026");
});

it("shades common gaps, and marks gaps of single lines", () => {
  const healthy = { gaps: [], colour: "#111111" };
  const dead = { gaps: [DEAD], colour: "#222222" };
  const [alone] = gapShapes([dead], NOW, "light");
  expect(alone).toMatchObject({
    x0: localTime(DEAD.since),
    x1: localTime(NOW),
    y0: 0,
    y1: 1,
    label: { text: "no data 25 Oct 2026 – today" },
  });
  const [strip, ...others] = gapShapes([healthy, dead], NOW, "light");
  expect(others).toEqual([]);
  expect(strip).toMatchObject({ fillcolor: "#222222", x0: localTime(DEAD.since), x1: localTime(NOW) });
  expect(Number(strip?.y1)).toBeLessThan(0.1);
});

it("finds common gaps of two lines", () => {
  const first = [DEAD];
  const second = [
    { since: "2026-10-01T00:00:00Z", until: "2026-10-02T00:00:00Z" },
    { since: "2026-11-01T00:00:00Z", until: "2026-11-10T00:00:00Z" },
    { since: "2026-11-20T00:00:00Z", until: null },
  ];
  expect(commonGaps([first, second], NOW)).toEqual(second.slice(1));
  expect(commonGaps([first, []], NOW)).toEqual([]);
});
