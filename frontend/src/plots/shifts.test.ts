import { expect, it } from "vitest";
import { type Shift, shiftsFigure } from "./shifts";

const SURE: Shift = { name: "1: dd", ratio: 1.2, low: 1.1, high: 1.3, isWeak: false, words: "B higher" };
const FEW: Shift = { name: "2: dd", ratio: 0.9, low: null, high: null, isWeak: true, words: "2 runs" };
const ONE: Shift = { ...FEW, name: "3: dd", ratio: null, words: "1 run" };

it("draws each ratio in per cent with its exact interval, and the first at the top", () => {
  const { data, layout } = shiftsFigure([SURE, FEW, ONE], "light");
  const [sure] = data as { x: number[]; error_x: { array: number[]; arrayminus: number[] } }[];
  expect(sure?.x[0]).toBeCloseTo(20);
  expect(sure?.error_x.array[0]).toBeCloseTo(10);
  expect(sure?.error_x.arrayminus[0]).toBeCloseTo(10);
  expect(layout.yaxis?.categoryarray).toEqual(["3: dd", "2: dd", "1: dd"]);
});

it("shows few runs as a hollow grey dot without interval, and a single run not at all", () => {
  const { data } = shiftsFigure([SURE, FEW, ONE], "light");
  expect(data[1]).toMatchObject({
    y: ["2: dd"],
    error_x: { array: [0], arrayminus: [0] },
    marker: { symbol: ["circle-open"] },
  });
});
