import { renderWithApp } from "@testing/render";
import { screen } from "@testing-library/react";
import { expect, it } from "vitest";
import type { SideVerdict } from "@/api/types";
import type { MetricRow } from "./compared";
import { NumbersTable } from "./NumbersTable";

const HIGHER: SideVerdict = {
  verdict: "higher",
  words: "10.0 to 30.0 % higher",
  ratio: 1.2,
  low: 1.1,
  high: 1.3,
  median_ratio: 1.2,
  p_value: 0.001,
  is_discovery: true,
  runs_missing: 0,
  basis: "runs",
  basis_words: "scatter of the runs",
  looks: 1,
  reasons: [],
};
const ONE_DAY: Partial<SideVerdict> = {
  verdict: "not_judged",
  words: "+10.0 to +30.0 %",
  p_value: null,
  is_discovery: null,
  basis: "one_day",
  basis_words: "measured on one day each: the day may be the cause",
};

function showTable(changes: Partial<SideVerdict>, flags: readonly string[] = []) {
  const numbers = (median: number, own: readonly string[]) => ({
    ...{ median, values: [median, median], n: 12, flags: own, modes: null },
  });
  const cells = [1, 2].map((cell_id) => ({ cell_id, is_alike: true }));
  const metric = {
    ...{ unit: "bytes_per_second", better: "higher" },
    numbers: [numbers(1e6, flags), numbers(1.2e6, [])],
    verdicts: [null, { ...HIGHER, ...changes }],
  };
  const rows = [{ name: "dd", cells, metric }] as unknown as MetricRow[];
  renderWithApp(
    <NumbersTable
      compared={{ names: ["A", "B"], against: 0, rows }}
      exported={() => ({ columns: [], rows: [] })}
      head=""
      label="Verdicts"
      rows={rows}
    />,
  );
}

function ratio(): HTMLElement {
  return screen.getByText("+20.0 %", { selector: "span.iotide-number:first-child" });
}

it("shows a reliable ratio in bold if neither value has a caution", () => {
  showTable({}, ["OUTLIER"]);
  expect(ratio()).toHaveClass("iotide-strong");
});

it.each<[string, readonly string[], Partial<SideVerdict>]>([
  ["a caution of the baseline", ["ZEROES"], {}],
  ["a ratio without a verdict", [], ONE_DAY],
  ["sides that are equal within the practical threshold", [], { verdict: "equal" }],
])("shows a ratio in regular weight for %s", (_why, flags, changes) => {
  showTable(changes, flags);
  expect(ratio()).not.toHaveClass("iotide-strong");
});

it("does not name the scatter of the runs, the usual error", () => {
  showTable({});
  expect(ratio().closest("[style*=dimmed]")).not.toBeInTheDocument();
  expect(screen.queryByText(/scatter/)).not.toBeInTheDocument();
  expect(screen.queryByText(/look/)).not.toBeInTheDocument();
});

it("names another error of the interval, and how often repeats were added", () => {
  showTable({ basis: "history", basis_words: "scatter from day to day", looks: 2 });
  expect(
    screen.getByText("scatter from day to day; look 2, after repeats were added: limits are stricter"),
  ).toBeInTheDocument();
});

it("greys results of one day each, and gives them no verdict", () => {
  showTable(ONE_DAY);
  expect(ratio().closest("[style*=dimmed]")).toBeInTheDocument();
  expect(screen.getByText("measured on one day each: the day may be the cause")).toBeInTheDocument();
  expect(screen.queryByText("better")).not.toBeInTheDocument();
});
