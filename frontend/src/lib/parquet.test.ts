import { parquetReadObjects } from "hyparquet";
import { expect, it } from "vitest";
import { toParquet } from "./parquet";

it("writes each column with its type, and null for missing values", async () => {
  const file = toParquet({
    columns: ["Series", "Median [bytes_per_second]", "At", "Direct", "Runs", "Runs"],
    rows: [
      ["dd", 118234112.5, "2026-11-21T10:00:00Z", true, 3, "1 2 3"],
      ["fio", null, null, false, 4, null],
    ],
  });
  expect(await parquetReadObjects({ file })).toEqual([
    {
      Series: "dd",
      "Median [bytes_per_second]": 118234112.5,
      At: new Date("2026-11-21T10:00:00Z"),
      Direct: true,
      Runs: 3,
      "Runs (2)": "1 2 3",
    },
    {
      Series: "fio",
      "Median [bytes_per_second]": null,
      At: null,
      Direct: false,
      Runs: 4,
      "Runs (2)": null,
    },
  ]);
});

it("keeps words and numbers of one column as text", async () => {
  const file = toParquet({ columns: ["Value"], rows: [[3], ["too few"], [null]] });
  expect(await parquetReadObjects({ file })).toEqual([{ Value: "3" }, { Value: "too few" }, { Value: null }]);
});

it("writes a table without rows", async () => {
  const file = toParquet({ columns: ["Value"], rows: [] });
  expect(await parquetReadObjects({ file })).toEqual([]);
});
