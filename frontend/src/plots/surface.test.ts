import { describe, expect, it } from "vitest";
import { differenceFigure, percentFigure, sliceFigure, spatialFigure, withMarks } from "./surface";

const MIB = 1024 ** 2;
const FIELDS = {
  fileSizes: [64 * MIB, 128 * MIB],
  recordSizes: [MIB, 4 * MIB],
  values: [
    [2e6, 4e6],
    [null, 1e6],
  ],
};
const SCALE = { divisor: 1e6, name: "MB/s" };
const MAP = {
  xNames: ["1 MiB", "4 MiB"],
  yNames: ["64 MiB", "128 MiB"],
  values: FIELDS.values,
  runs: [
    ["1 run", "1 run"],
    ["", "1 run"],
  ],
  gaps: [
    ["", ""],
    ["not measured: too short", ""],
  ],
};
const PLACE = { fileSize: 64 * MIB, recordSize: 4 * MIB };

describe("a surface in space", () => {
  const options = { title: "Throughput", scale: SCALE, scheme: "light" as const, isDifference: false };

  it("uses exponents of two with sizes as texts, and has holes for missing values", () => {
    const { data, layout } = spatialFigure(FIELDS, { ...options, marked: undefined });
    expect(data[0]).toMatchObject({
      x: [20, 22],
      y: [26, 27],
      z: [
        [2, 4],
        [null, 1],
      ],
    });
    expect(layout.scene?.xaxis).toMatchObject({ tickvals: [20, 22], ticktext: ["1 MiB", "4 MiB"] });
    expect(layout.scene?.zaxis).toMatchObject({ title: { text: "Throughput (MB/s)" } });
  });

  it("labels the selected cell if it was measured", () => {
    const marked = spatialFigure(FIELDS, { ...options, marked: PLACE }).layout.scene;
    expect(marked?.annotations).toMatchObject([{ x: 22, y: 26, z: 4, text: "4 MiB of 64 MiB" }]);
    const hole = { fileSize: 128 * MIB, recordSize: MIB };
    expect(spatialFigure(FIELDS, { ...options, marked: hole }).layout.scene?.annotations).toEqual([]);
  });

  it("uses the middle colour for no difference", () => {
    const [trace] = spatialFigure(FIELDS, { ...options, isDifference: true, marked: undefined }).data;
    expect(trace).toMatchObject({ cmin: -4, cmax: 4 });
  });
});

describe("a difference map", () => {
  it("uses the middle colour for no difference, and signed values", () => {
    const values = [
      [-2e6, 5e5],
      [null, 0],
    ];
    const [trace] = differenceFigure({ ...MAP, values }, { scale: SCALE, scheme: "light" }).data;
    expect(trace).toMatchObject({
      zmin: -2,
      zmax: 2,
      text: [["−2", "+0.5"], expect.arrayContaining([""])],
    });
  });

  it("shows half and twice equally strong", () => {
    const values = [
      [0.5, 2],
      [null, 1],
    ];
    const [trace] = percentFigure({ ...MAP, values }, "light").data;
    expect(trace).toMatchObject({
      z: [
        [-1, 1],
        [null, 0],
      ],
      zmin: -1,
      zmax: 1,
    });
  });
});

it("frames the selected cell and draws a drop between its sizes", () => {
  const falls = [{ axis: "file_size" as const, lastBytes: 64 * MIB }];
  const { shapes } = withMarks({ data: [], layout: {} }, FIELDS, PLACE, falls).layout;
  expect(shapes).toMatchObject([
    { type: "line", y0: 0.5, y1: 0.5, xref: "paper" },
    { type: "rect", x0: 0.5, x1: 1.5, y0: -0.5, y1: 0.5 },
  ]);
});

it("draws slices with bars from minimum to maximum and gaps for missing values", () => {
  const line = { name: "A", at: [MIB, 4 * MIB], median: [2e6, null], low: [1e6, null], high: [4e6, null] };
  const options = { xTitle: "Record size", title: "Throughput", scale: SCALE, scheme: "light" as const };
  const [trace] = sliceFigure([line], options).data;
  expect(trace).toMatchObject({ x: ["1 MiB", "4 MiB"], y: [2, null], connectgaps: false });
  expect(trace).toMatchObject({ error_y: { array: [2, 0], arrayminus: [1, 0] } });
});
