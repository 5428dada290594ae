import { expect, it } from "vitest";
import type { Points, SeriesStanding } from "@/api/types";
import { commonStart, panelScales, panelsOf } from "./panels";

function standing(
  id: number,
  target: string,
  state: SeriesStanding["state"] = "in_control",
  since: string | null = null,
): SeriesStanding {
  const series = { id, cluster_id: 1 + (id % 2), target_names: [target], node_names: ["n1"], labels: {} };
  return { series, state, since, shift_ratio: null, words: `words ${id}` } as SeriesStanding;
}
const NAMES = new Map([
  [1, "hpc"],
  [2, "studio"],
]);

it("makes a panel for each target of a cluster, worst first, with the state of its worst series", () => {
  const since = "2026-09-07T00:00:00Z";
  const panels = panelsOf(
    [standing(2, "nvme", "slower", since), standing(4, "scratch"), standing(6, "nvme"), standing(1, "nvme")],
    "target",
    NAMES,
  );
  expect(panels.map(({ title, series }) => [title, series.map(({ id }) => id)])).toEqual([
    ["hpc · nvme", [2, 6]],
    ["hpc · scratch", [4]],
    ["studio · nvme", [1]],
  ]);
  expect(panels[0]).toMatchObject({ state: { words: "words 2", since, isBad: true }, markAt: since });
  expect(panels[1]).toMatchObject({ state: { isBad: false }, markAt: null });
});

it("makes panels by node or cluster, and counts series that are not drawn", () => {
  const many = [2, 4, 6, 8].map((id) => standing(id, `t${id}`));
  expect(panelsOf(many, "node", NAMES)).toMatchObject([{ title: "hpc · n1", leftOut: 1 }]);
  expect(panelsOf(many, "cluster", NAMES)).toMatchObject([{ title: "hpc", leftOut: 1 }]);
});

function drawn(...medians: readonly number[]): Points[] {
  return [{ median: medians }] as unknown as Points[];
}

it("shares a scale from zero among charts of one order of magnitude, and marks those with their own", () => {
  const scales = panelScales([drawn(8, 9), drawn(2, 2), drawn(500, 700), drawn(), drawn(1)], true);
  expect(scales.map(({ range, isOwn }) => [range, isOwn])).toEqual([
    [[0, 9], false],
    [[0, 9], false],
    [[0, 700], true],
    [[0, 9], false],
    [[0, 1], true],
  ]);
});

it("lets trends choose the scale, not charts with a single point", () => {
  const scales = panelScales([drawn(9, 9), drawn(8, 9), drawn(40), drawn(40), drawn(40)], true);
  expect(scales.map(({ range: [, most] }) => most)).toEqual([9, 9, 40, 40, 40]);
});

it("gives each chart its own scale if axes may be cut, and says which are", () => {
  const scales = panelScales([drawn(8, 9), drawn(0, 5)], false);
  expect(scales).toEqual([
    { range: [8, 9], isOwn: true, isCut: true },
    { range: [0, 5], isOwn: true, isCut: false },
  ]);
});

it("lets a single chart have the whole scale without a remark", () => {
  expect(panelScales([drawn(3, 9)], true)).toEqual([{ range: [0, 9], isOwn: false, isCut: false }]);
});

it("begins all charts at the oldest point of any", () => {
  const found = [
    { at: ["2026-02-01T00:00:00Z", "2026-03-01T00:00:00Z"] },
    { at: ["2026-01-01T00:00:00Z"] },
  ] as Points[];
  expect(commonStart(found, undefined)).toBe("2026-01-01T00:00:00Z");
  expect(commonStart(found, "2026-02-15T00:00:00Z")).toBe("2026-02-15T00:00:00Z");
});
