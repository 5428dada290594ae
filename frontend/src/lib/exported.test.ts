import { expect, it } from "vitest";
import { asCurl, fileName, toCsv, toJson, withFormat } from "./exported";

const TABLE = {
  columns: ["Series", "Median [bytes_per_second]"],
  rows: [
    ['dd, "quick"', 118234112],
    ["fio\nrand", null],
  ],
};

it("quotes separators in CSV, and keeps every digit", () => {
  expect(toCsv(TABLE)).toBe(
    'Series,Median [bytes_per_second]\r\n"dd, ""quick""",118234112\r\n"fio\nrand",\r\n',
  );
});

it("escapes spreadsheet formulas, and keeps numbers", () => {
  const csv = toCsv({ columns: ["Note"], rows: [["=1+1"], ["+1"], ["-1"], ["@A1"], ["\t=1"], [-1]] });
  expect(csv).toBe("Note\r\n'=1+1\r\n'+1\r\n'-1\r\n'@A1\r\n'\t=1\r\n-1\r\n");
});

it("writes JSON as records by column name", () => {
  expect(JSON.parse(toJson(TABLE))).toEqual([
    { Series: 'dd, "quick"', "Median [bytes_per_second]": 118234112 },
    { Series: "fio\nrand", "Median [bytes_per_second]": null },
  ]);
});

it("makes file names that are valid on every file system", () => {
  expect(fileName("Trend of Write: 64 KiB / é")).toBe("trend-of-write-64-kib-e");
  expect(fileName("→")).toBe("iotide");
});

it("requests a file of the same values", () => {
  expect(withFormat("/api/v1/runs", "csv")).toBe("/api/v1/runs?format=csv");
  expect(withFormat("/api/v1/points?series_id=3", "parquet")).toBe(
    "/api/v1/points?series_id=3&format=parquet",
  );
});

it("writes a request as a quoted curl command without a token", () => {
  expect(asCurl("https://io.example", "/api/v1/runs?workload=o'dd&limit=5")).toBe(
    `curl --fail-with-body -H "Authorization: Bearer $IOTIDE_TOKEN" 'https://io.example/api/v1/runs?workload=o%27dd&limit=5'`,
  );
});
