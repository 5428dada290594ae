import { expect, it } from "vitest";
import { type PeerRow, peersFigure } from "./peers";

const USUAL: PeerRow = {
  name: "raid1",
  runs: 6,
  campaigns: [0.01, -0.01],
  difference: 0,
  z: 0.1,
  isOdd: false,
};
const ODD = { ...USUAL, name: "raid3", campaigns: [-0.25, -0.21], difference: -0.23, z: -9.1, isOdd: true };

it("draws each campaign of each peer in its row, in per cent of the group's median", () => {
  const [dots] = peersFigure([ODD, USUAL], "light").data as { x: number[]; y: number[] }[];
  expect(dots?.x.map((x) => Math.round(x))).toEqual([-25, -21, 1, -1]);
  expect(dots?.y).toEqual([0, 0, 1, 1]);
});

it("names each row with its number of runs, and an outlier with its value and robust z", () => {
  const { layout } = peersFigure([ODD, USUAL], "light");
  expect(layout.yaxis?.ticktext).toEqual(["raid3 (n 6)", "raid1 (n 6)"]);
  expect(layout.annotations?.map(({ text }) => text)).toEqual(["<b>−23.0 %, z −9.1</b>"]);
});

it("does not stretch small differences over the whole axis", () => {
  const [low, high] = (peersFigure([USUAL], "light").layout.xaxis?.range ?? []) as number[];
  expect(low).toBeLessThan(-8);
  expect(high).toBeGreaterThan(8);
});
