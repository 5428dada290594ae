import { renderWithApp } from "@testing/render";
import { screen } from "@testing-library/react";
import { expect, it } from "vitest";
import type { MetricRow } from "./compared";
import { NumbersTable } from "./NumbersTable";

/** The ratio of one side against a baseline whose runs have these flags. */
function ratioWith(flags: readonly string[], discovery: boolean | null = true): HTMLElement {
  const numbers = (median: number, own: readonly string[]) => ({
    ...{ median, values: [median, median], n: 12, flags: own, modes: null },
  });
  const verdict = {
    ...{ verdict: "higher", ratio: 1.2, low: 1.1, high: 1.3, median_ratio: 1.2, words: "higher" },
    ...{ p_value: 0.001, is_discovery: discovery },
  };
  const cells = [1, 2].map((cell_id) => ({ cell_id, is_alike: true }));
  const metric = {
    ...{ unit: "bytes_per_second", better: "higher" },
    numbers: [numbers(1e6, flags), numbers(1.2e6, [])],
    verdicts: [null, verdict],
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
  return screen.getByText("+20.0 %", { selector: "span.iotide-number:first-child" });
}

it("shows a ratio bold where it is judged and no number of the two has a caution", () => {
  expect(ratioWith(["OUTLIER"])).toHaveClass("iotide-strong");
});

it.each([
  ["a caution of the baseline", ["DURATION"], true],
  ["what may be chance", [], false],
])("shows a ratio in regular weight for %s", (_why, flags, discovery) => {
  expect(ratioWith(flags, discovery)).not.toHaveClass("iotide-strong");
});
