import { listOf, NO_BOARD, NO_THROUGHPUT, openDashboard, USUAL_ANSWERS } from "@testing/openDashboard";
import { server } from "@testing/server";
import { screen, waitFor, within } from "@testing-library/react";
import { HttpResponse, http } from "msw";
import { expect, it } from "vitest";

const nodes = { online: 1, stuck: 0, silent: 0, never_seen: 0, drained: 0, passed_over: 0 };
const WRITE = {
  workload: "dd",
  metric: "throughput",
  operation: "write",
  title: "Throughput",
  unit: "bytes_per_second",
  better: "higher",
  clusters: 1,
};
const MEASURES = [WRITE, { ...WRITE, operation: "read" }, { ...WRITE, workload: "fio", operation: "" }];

it("keeps workload, metric and target kind in the address, and requests them", async () => {
  const asked: URLSearchParams[] = [];
  server.use(...USUAL_ANSWERS);
  server.use(
    http.get("*/api/v1/board", () =>
      HttpResponse.json({ ...NO_BOARD, clusters: [{ ...NO_BOARD.clusters[0], nodes }] }),
    ),
    http.get("*/api/v1/campaigns", ({ request }) =>
      listOf(new URL(request.url).searchParams.has("state") ? [] : [{ id: 1 }]),
    ),
    http.get("*/api/v1/board/throughput", ({ request }) => {
      const query = new URL(request.url).searchParams;
      asked.push(query);
      const drawn = MEASURES.find(
        ({ workload, operation }) =>
          workload === (query.get("workload") ?? "dd") && operation === (query.get("operation") ?? operation),
      );
      return HttpResponse.json({
        ...NO_THROUGHPUT,
        drawn,
        measures: MEASURES,
        target_kinds: ["lustre", "xfs"],
      });
    }),
  );
  const { router, user } = openDashboard("/");
  const section = within(await screen.findByRole("region", { name: "Throughput over time" }));
  const choose = async (name: string, option: string) =>
    user.selectOptions(await section.findByRole("combobox", { name }), option);
  await choose("Metric", "Throughput, read");
  await choose("Target kind", "xfs");
  expect(router.state.location.search).toEqual({
    workload: "dd",
    metric: "throughput",
    operation: "read",
    kind: "xfs",
  });
  await waitFor(() => expect(asked.at(-1)?.get("kind")).toBe("xfs"));
  expect(asked.at(-1)?.get("operation")).toBe("read");
  await choose("Workload", "fio");
  expect(router.state.location.search).toEqual({ workload: "fio", kind: "xfs" });
  expect(section.getByText("Not measured in this period.")).toBeInTheDocument();
});
