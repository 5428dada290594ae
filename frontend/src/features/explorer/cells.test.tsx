import { renderWithApp } from "@testing/render";
import { expect, it } from "vitest";
import type { ExplorerRun } from "@/api/types";
import { RunCells, useCellContext } from "./cells";
import type { ColumnId } from "./view";

const RUN = {
  flags: ["DURATION"],
  headline: {
    ...{ series_id: 1, title: "Throughput", better: "higher", metric: "throughput", value: 7e6 },
    ...{ unit: "bytes_per_second", labels: {} },
  },
} as unknown as ExplorerRun;

function Row({ columns }: { columns: readonly ColumnId[] }) {
  const context = useCellContext(undefined, new Map(), columns);
  return (
    <table>
      <tbody>
        <tr>
          <RunCells context={context} run={RUN} />
        </tr>
      </tbody>
    </table>
  );
}

it("says the caution of a number at the number, unless the column of flags says it", () => {
  const alone = renderWithApp(<Row columns={["value"]} />);
  expect(alone.container.querySelector("[data-column=value]")).toHaveTextContent("too short");
  alone.unmount();
  const { container } = renderWithApp(<Row columns={["value", "flags"]} />);
  expect(container.querySelector("[data-column=value]")).not.toHaveTextContent("too short");
});
