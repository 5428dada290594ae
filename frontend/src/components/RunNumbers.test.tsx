import { renderWithApp } from "@testing/render";
import { expect, it } from "vitest";
import { RunNumbers } from "./RunNumbers";

it("shows the caution of two modes once, and neither mode in bold", () => {
  const modes = { low: 1e6, low_runs: 4, high: 5e6, high_runs: 4 };
  const { container } = renderWithApp(
    <RunNumbers flags={["ZEROES"]} median={3e6} modes={modes} unit="bytes_per_second" values={[1e6, 5e6]} />,
  );
  expect(container).toHaveTextContent("1 MB/sreducible data (4 runs)5 MB/s (4 runs)");
  expect(container.querySelectorAll(".iotide-cautioned")).toHaveLength(2);
  expect(container.querySelector(".iotide-strong")).toBeNull();
});
