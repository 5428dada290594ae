import { renderWithApp } from "@testing/render";
import { screen } from "@testing-library/react";
import type { ReactNode } from "react";
import { expect, it, vi } from "vitest";
import type { RunDetail } from "@/api/types";
import { tableData } from "@/lib/tableData";
import { MetricsTable } from "./MetricsTable";

vi.mock("@/components/links", () => ({
  TextLink: ({ children }: { children: ReactNode }) => <span>{children}</span>,
}));
vi.mock("@/components/optionTitles", () => ({ useTitlesOf: () => () => (name: string) => name }));

const FLAG = { code: "FSYNC", effect: "marked", measured: "", limit: "", labels: {}, target_id: 3 };
const SAMPLE = {
  ...{
    id: 1,
    run_id: 1,
    order_id: 1,
    series_id: 1,
    target_id: 3,
    target_name: "scratch",
    metric: "throughput",
  },
  ...{
    title: "Throughput",
    unit: "bytes_per_second",
    better: "higher",
    labels: {},
    superseded: null,
    value: 5e8,
  },
};
const OTHER = { ...SAMPLE, id: 2, target_id: 4, target_name: "home", value: 7e8 };

function shown(more: object): HTMLTableRowElement[] {
  const run = {
    ...{ state: "finished", workload: "dd", cluster_id: 1, cell_id: 1, attempts: [], flags: [] },
    ...{ samples: [SAMPLE], target_names: ["scratch"], ...more },
  } as unknown as RunDetail;
  renderWithApp(<MetricsTable run={run} />);
  return [...screen.getByRole<HTMLTableElement>("table", { name: "Metrics" }).rows].slice(1);
}

it("shows the targets of a run separately, each with its own cautions", () => {
  const rows = shown({ flags: [FLAG], samples: [SAMPLE, OTHER], target_names: ["home", "scratch"] });
  expect(rows.map((row) => row.cells[0]?.textContent)).toEqual(["Throughputscratch", "Throughputhome"]);
  expect(rows.map((row) => row.textContent?.includes("not flushed"))).toEqual([true, false]);
  const { columns, rows: exported } = tableData(screen.getByRole<HTMLTableElement>("table"));
  const place = columns.findIndex((name) => name.endsWith("target"));
  expect(exported.map((row) => row[place])).toEqual(["scratch", "home"]);
});

it("does not name the only target of a run", () => {
  const [row] = shown({});
  expect(row?.cells[0]?.textContent).toBe("Throughput");
  expect(row?.querySelector(".iotide-strong")).not.toBeNull();
});

it.each(["failed", "cancelled"])("never shows a value of a %s run in bold", (state) => {
  const [row] = shown({ state });
  expect(row?.querySelector(".iotide-strong")).toBeNull();
  expect(row).toHaveTextContent("ended before its work was done");
});

it("shows the values of the main metric, and folds the others", () => {
  const duration = { ...SAMPLE, id: 3, metric: "duration", title: "Duration", better: "lower", value: 0.1 };
  const rows = shown({ samples: [duration, SAMPLE] });
  expect(rows.map((row) => row.cells[0]?.textContent)).toEqual(["Throughput"]);
  expect(screen.getByText("More metrics (1)")).toBeInTheDocument();
  expect(screen.getByRole("table", { name: "More metrics", hidden: true })).toHaveTextContent("Duration");
});
