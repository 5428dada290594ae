import { displayedNumbers } from "@testing/exportCheck";
import { renderWithApp } from "@testing/render";
import { screen } from "@testing-library/react";
import type { ReactNode } from "react";
import { expect, it, vi } from "vitest";
import type { ExportTable } from "@/lib/exported";
import { tableData } from "@/lib/tableData";
import { HeadlineValue } from "./HeadlineValue";
import { IntervalMark } from "./IntervalMark";
import { FlagTitles, MeasuredValue } from "./MeasuredValue";
import { MedianRatio } from "./MedianRatio";
import { OptionValue } from "./OptionValue";
import { RunLinks } from "./RunLinks";
import { RunNumbers } from "./RunNumbers";
import { ScrollTable } from "./ScrollTable";
import { Datum, Quantity } from "./values";

vi.mock("./links", () => ({ RunLink: ({ id }: { id: number }) => <span>{id}</span> }));

const RATE = "bytes_per_second";
const FLAGS = ["CACHE_SIZE", "DURATION"];

/** Return the export of a table with these cells as its only column. */
function exportOf(...cells: readonly ReactNode[]): ExportTable {
  renderWithApp(
    <ScrollTable head={["X"]} label="Numbers">
      {cells.map((cell, place) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: rows never move
        <tr key={place}>
          <td>{cell}</td>
        </tr>
      ))}
    </ScrollTable>,
  );
  return tableData(screen.getByRole("table", { name: "Numbers" }) as HTMLTableElement);
}

it.each<[string, ReactNode, ExportTable]>([
  [
    "a measured value",
    <MeasuredValue flags={FLAGS} key="" unit={RATE} value={1.62e9} />,
    { columns: [`X [${RATE}]`, "X flags"], rows: [[1.62e9, "CACHE_SIZE DURATION"]] },
  ],
  [
    "runs with their range",
    <RunNumbers flags={[]} key="" median={3} modes={null} unit={RATE} values={[4, 2, 3, 5]} />,
    { columns: [`X [${RATE}]`, `X low [${RATE}]`, `X high [${RATE}]`, "X n"], rows: [[3, 2, 5, 4]] },
  ],
  [
    "runs in two modes",
    <RunNumbers
      flags={FLAGS}
      key=""
      median={3}
      modes={{ low: 1, low_runs: 4, high: 5, high_runs: 4 }}
      unit={RATE}
      values={[1, 5]}
    />,
    {
      columns: [`X [${RATE}]`, `X low [${RATE}]`, `X high [${RATE}]`, "X n", "X flags"],
      rows: [[3, 1, 5, 2, "CACHE_SIZE DURATION"]],
    },
  ],
  [
    "a headline",
    <HeadlineValue
      flags={[]}
      headline={{
        ...{ series_id: 1, title: "Throughput", better: "higher", metric: "throughput", unit: RATE },
        ...{ labels: { operation: "write", size_bytes: 65536 }, value: 7 },
      }}
      key=""
    />,
    {
      columns: ["X metric", "label_operation", "label_size_bytes", `X [${RATE}]`],
      rows: [["throughput", "write", 65536, 7]],
    },
  ],
  [
    "a headline with flags of its own rather than those of its run",
    <HeadlineValue
      flags={FLAGS}
      headline={{
        ...{ series_id: 1, title: "Throughput", better: "higher", metric: "throughput", unit: RATE },
        ...{ labels: {}, value: 7, flags: ["DURATION"] },
      }}
      key=""
    />,
    { columns: ["X metric", `X [${RATE}]`, "X flags"], rows: [["throughput", 7, "DURATION"]] },
  ],
  [
    "a ratio with its interval",
    <IntervalMark key="" of={{ ratio: 1.08, low: 1.05, high: 1.12 }} reach={2} />,
    { columns: ["X ratio", "X ci_low", "X ci_high"], rows: [[1.08, 1.05, 1.12]] },
  ],
  ["a ratio of medians", <MedianRatio key="" ratio={0.5} />, { columns: ["X ratio"], rows: [[0.5]] }],
  ["links to runs", <RunLinks ids={[4, 5]} key="" />, { columns: ["X ids", "X n"], rows: [["4 5", 2]] }],
  ["flags", <FlagTitles codes={FLAGS} key="" />, { columns: ["X"], rows: [["CACHE_SIZE DURATION"]] }],
  [
    "an option",
    <OptionValue key="" name="size_bytes" value={65536} />,
    { columns: ["X [bytes]"], rows: [[65536]] },
  ],
  [
    "a duration",
    <Datum key="" unit="seconds" value={200}>
      3 min 20 s
    </Datum>,
    { columns: ["X [seconds]"], rows: [[200]] },
  ],
])("exports %s as data and none of its words", (_, cell, table) => {
  expect(exportOf(cell)).toEqual(table);
});

it("separates text and numbers of a cell, and leaves unknown numbers empty", () => {
  const table = exportOf(
    <>
      since the update <Quantity unit={RATE} value={5} />
    </>,
    <Quantity unit={RATE} value={null} />,
    "not measured",
  );
  expect(table).toEqual({
    columns: ["X", `X value [${RATE}]`],
    rows: [
      ["since the update", 5],
      [null, null],
      ["not measured", null],
    ],
  });
});

it("exports the unit of each row if units differ", () => {
  expect(exportOf(<Quantity unit={RATE} value={5} />, <Quantity unit="seconds" value={2} />)).toEqual({
    columns: ["X", "X unit"],
    rows: [
      [5, RATE],
      [2, "seconds"],
    ],
  });
});

it("reports a displayed number without export data", () => {
  const table = exportOf(<Quantity unit={RATE} value={5e9} />, "1.62 GB/s 4 runs, 1.10 GB/s to 1.96 GB/s");
  expect(displayedNumbers(table)).toEqual(['X: "1.62 GB/s 4 runs, 1.10 GB/s to 1.96 GB/s"']);
  screen.getByRole("table", { name: "Numbers" }).removeAttribute("data-exported");
});
