import { renderWithApp } from "@testing/render";
import { expect, it } from "vitest";
import type { ExplorerRun } from "@/api/types";
import { RunCells, useCellContext } from "./cells";
import type { ColumnId } from "./view";

const RUN = {
  flags: ["CACHE_DROP", "STEADY"],
  usual_flags: [],
  headline: {
    ...{ series_id: 1, title: "Throughput", better: "higher", metric: "throughput", value: 7e6 },
    ...{ unit: "bytes_per_second", labels: {} },
  },
} as unknown as ExplorerRun;

interface RowProps {
  readonly columns: readonly ColumnId[];
  readonly run?: ExplorerRun;
}

function Row({ columns, run = RUN }: RowProps) {
  const context = useCellContext(undefined, new Map(), columns);
  return (
    <table>
      <tbody>
        <tr>
          <RunCells context={context} run={run} />
        </tr>
      </tbody>
    </table>
  );
}

it("shows cautions at the value unless the flags column shows them", () => {
  const alone = renderWithApp(<Row columns={["value"]} />);
  expect(alone.container.querySelector("[data-column=value]")).toHaveTextContent("read warm");
  alone.unmount();
  const { container } = renderWithApp(<Row columns={["value", "flags"]} />);
  expect(container.querySelector("[data-column=value]")).not.toHaveTextContent("read warm");
});

it("counts flags that may explain a value, and shows usual flags in grey", () => {
  const usual = { ...RUN, usual_flags: ["CACHE_DROP", "ZEROES"] };
  const { container } = renderWithApp(<Row columns={["flags"]} run={usual} />);
  expect(container).toHaveTextContent("usual here: read warmwithout: reducible data1 note");
});
