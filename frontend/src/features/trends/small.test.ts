import { expect, it } from "vitest";
import type { Points, Series } from "@/api/types";
import { commonRange, MOST_CHARTS, smallGroups } from "./small";

function series(id: number, target: string, pointCount = 10): Series {
  return {
    id,
    cluster_id: 1 + (id % 2),
    target_names: [target],
    workload: "dd",
    point_count: pointCount,
  } as Series;
}

it("groups by target in natural order, series with most points first", () => {
  const { groups } = smallGroups(
    [series(1, "ost10"), series(2, "ost2", 5), series(3, "ost2")],
    "target",
    new Map(),
  );
  expect(groups.map(({ title, series: own }) => [title, own.map(({ id }) => id)])).toEqual([
    ["ost2", [3, 2]],
    ["ost10", [1]],
  ]);
});

it("names clusters and counts hidden groups", () => {
  const many = Array.from({ length: 6 }, (_, place) => series(2 * place, "disk"));
  const { groups } = smallGroups(many, "cluster", new Map([[1, "hpc1"]]));
  expect(groups).toMatchObject([{ title: "hpc1", leftOut: 2 }]);
  const wide = Array.from({ length: MOST_CHARTS + 3 }, (_, id) => series(id, `t${id}`));
  expect(smallGroups(wide, "target", new Map())).toMatchObject({ hidden: 3 });
});

it("uses one scale for all charts", () => {
  const found = [{ median: [3, 9] }, { median: [5] }] as Points[];
  expect(commonRange(found, true)).toEqual([0, 9]);
  expect(commonRange(found, false)).toEqual([3, 9]);
});
