/** What the pages show of so many runs, with answers that the server's own statistics gave to made-up runs. */

import { listOf, openDashboard, USUAL_ANSWERS } from "@testing/openDashboard";
import { server } from "@testing/server";
import verdicts from "@testing/verdicts.json";
import { screen } from "@testing-library/react";
import { HttpResponse, http } from "msw";
import { beforeEach, expect, it, vi } from "vitest";

// plotly needs a canvas, which happy-dom has not; figures are tested as data.
vi.mock("@/plots/PlotlyView", () => ({ default: () => null }));

// Found by label and tag: roles are slow to tell in so large a page.
const RUNS = [1, 2, 3, 4, 5, 30];
const INTERVAL = /[+−]\d+\.\d % ?\(?[+−]\d+\.\d % to [+−]\d+\.\d %/;
const PERCENT = /[+−]\d+\.\d %/;

beforeEach(() => {
  server.use(...USUAL_ANSWERS);
  server.use(
    http.get("*/api/v1/campaigns", () => listOf([])),
    http.get("*/api/v1/campaigns/:id", ({ params }) =>
      HttpResponse.json({ id: Number(params.id), name: "made up", cluster_id: 1 }),
    ),
    http.get("*/api/v1/campaigns/:id/cells", () => listOf([])),
    http.get("*/api/v1/comparison", () => HttpResponse.json(verdicts.comparison)),
    http.get("*/api/v1/comparison/sides", () => HttpResponse.json(verdicts.sides)),
  );
});

/** What is absent below four runs, below thirty, and where there is no one ratio. */
function expectRules(runs: number, shape: string, text: string) {
  const hasInterval = runs >= 4 && shape !== "modes" && shape !== "zero";
  expect(INTERVAL.test(text)).toBe(hasInterval);
  if (!hasInterval) expect(text).not.toMatch(PERCENT);
  expect(/ratio \d\.\d\d/.test(text)).toBe((runs === 2 || runs === 3) && shape !== "zero");
  expect(text.includes("1 run")).toBe(runs === 1);
  expect(text.includes("p95")).toBe(runs >= 30 && !hasModes(runs, shape));
  if (runs < 4) expect(text).not.toMatch(/better|worse/);
}

function hasModes(runs: number, shape: string): boolean {
  return runs >= 4 && shape === "modes";
}

it("shows of two campaigns what each number of runs allows, and no percentage without an interval", async () => {
  openDashboard("/compare?a=1&b=2");
  const tables = await screen.findAllByLabelText(/^Numbers of/, { selector: "table" });
  expect(tables).toHaveLength(2 * RUNS.length);
  for (const [place, runs] of RUNS.entries()) {
    const [, ...rows] = tables[place]?.querySelectorAll("tr") ?? [];
    expect(rows).toHaveLength(8);
    for (const row of rows) {
      const text = row.textContent ?? "";
      const shape = text.match(/^[A-Z][a-z]+/)?.[0].toLowerCase() ?? "";
      // The side A of `modes` has one, and so percentiles of its own.
      if (!hasModes(runs, shape)) expectRules(runs, shape, text);
      else expect(text).not.toMatch(PERCENT);
    }
  }
});

it("puts the caution of one side on no number of the other", async () => {
  const [pair] = verdicts.comparison.pairs;
  const metrics = pair?.metrics.map((metric) => ({ ...metric, flags: ["FSYNC"], flags_b: ["FSYNC"] }));
  const answer = { ...verdicts.comparison, pairs: [{ ...pair, metrics }] };
  server.use(http.get("*/api/v1/comparison", () => HttpResponse.json(answer)));
  openDashboard("/compare?a=1&b=2");
  const table = await screen.findByLabelText(/^Numbers of/, { selector: "table" });
  const [, first] = table.querySelectorAll("tr");
  const [a, b] = first?.querySelectorAll("td") ?? [];
  expect(a).not.toHaveTextContent("not flushed");
  expect(b).toHaveTextContent("not flushed");
});

it("judges no pair that did not run the same", async () => {
  openDashboard("/compare?a=1&b=2");
  const tables = await screen.findAllByLabelText(/^Numbers of.*unlike/, { selector: "table" });
  for (const table of tables) expect(table).not.toHaveTextContent(/better|worse/);
});

it("shows of many sides the same, and both modes where a side has two", async () => {
  openDashboard("/compare?campaigns=%5B1%5D");
  const table = await screen.findByLabelText("Verdicts", { selector: "table" });
  const [, ...rows] = table.querySelectorAll("tr");
  for (const [place, runs] of RUNS.entries()) {
    const [, ...cells] = rows[place]?.querySelectorAll("td") ?? [];
    for (const [side, cell] of cells.entries()) {
      const shape = verdicts.sides.sides[side + 1] ?? "";
      expectRules(runs, shape, cell.textContent ?? "");
      if (shape === "unlike") expect(cell).not.toHaveTextContent(/better|worse/);
      if (hasModes(runs, shape)) expect(cell).toHaveTextContent(/2\d\d MB\/s \(\d+ runs\)|\(\d+ runs\)/);
    }
  }
});
