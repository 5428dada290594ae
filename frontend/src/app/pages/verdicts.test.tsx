/** Verdicts on pages by number of runs. The server's own statistics answered for generated runs. */

import { listOf, openDashboard, USUAL_ANSWERS } from "@testing/openDashboard";
import { server } from "@testing/server";
import verdicts from "@testing/verdicts.json";
import { screen } from "@testing-library/react";
import { HttpResponse, http } from "msw";
import { beforeEach, expect, it } from "vitest";

// Found by label and tag: queries by role are slow on a page this large.
const RUNS = [1, 2, 3, 4, 5, 30];
const INTERVAL = /[+−]\d+\.\d % ?\(?[+−]\d+\.\d % to [+−]\d+(\.\d)? %/;
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

/** The tables are folded below the forest plot. */
async function openValues(address: string): Promise<void> {
  const { user } = openDashboard(address);
  await user.click(await screen.findByText("All values"));
}

/** Texts that must not appear below four runs, below thirty runs, and without a single ratio. */
function expectRules(runs: number, shape: string, text: string) {
  const hasInterval = runs >= 4 && !hasModes(runs, shape) && shape !== "zero";
  expect(INTERVAL.test(text)).toBe(hasInterval);
  if (!hasInterval) expect(text).not.toMatch(PERCENT);
  expect(/ratio \d\.\d\d/.test(text)).toBe((runs === 2 || runs === 3) && shape !== "zero");
  expect(text.includes("1 run")).toBe(runs === 1);
  expect(text.includes("p95")).toBe(runs >= 30 && !hasModes(runs, shape));
  if (runs < 4) expect(text).not.toMatch(/better|worse/);
}

function hasModes(runs: number, shape: string): boolean {
  return runs >= 6 && shape === "modes";
}

it("compares two campaigns by number of runs, without percentages if there is no interval", async () => {
  await openValues("/compare?a=1&b=2");
  const tables = await screen.findAllByLabelText(/^Metrics of/, { selector: "table" });
  expect(tables).toHaveLength(2 * RUNS.length);
  for (const [place, runs] of RUNS.entries()) {
    const [, ...rows] = tables[place]?.querySelectorAll("tr") ?? [];
    expect(rows).toHaveLength(8);
    for (const row of rows) {
      const text = row.textContent ?? "";
      const shape = text.match(/^[A-Z][a-z]+/)?.[0].toLowerCase() ?? "";
      // Side A of `modes` has one mode, and so percentiles.
      if (!hasModes(runs, shape)) expectRules(runs, shape, text);
      else expect(text).not.toMatch(PERCENT);
    }
  }
});

it("shows a side's caution only on its own values", async () => {
  const [pair] = verdicts.comparison.pairs;
  const metrics = pair?.metrics.map((metric) => ({ ...metric, flags: ["FSYNC"], flags_b: ["FSYNC"] }));
  const answer = { ...verdicts.comparison, pairs: [{ ...pair, metrics }] };
  server.use(http.get("*/api/v1/comparison", () => HttpResponse.json(answer)));
  await openValues("/compare?a=1&b=2");
  const table = await screen.findByLabelText(/^Metrics of/, { selector: "table" });
  const [, first] = table.querySelectorAll("tr");
  const [a, b] = first?.querySelectorAll("td") ?? [];
  expect(a).not.toHaveTextContent("not flushed");
  expect(b).toHaveTextContent("not flushed");
});

it("gives no verdict for pairs with different setups", async () => {
  await openValues("/compare?a=1&b=2");
  const tables = await screen.findAllByLabelText(/^Metrics of.*unlike/, { selector: "table" });
  for (const table of tables) expect(table).not.toHaveTextContent(/better|worse/);
});

it("says under each verdict which scatter it uses, and gives none for one day each", async () => {
  server.use(http.get("*/api/v1/comparison", () => HttpResponse.json(verdicts.bases)));
  await openValues("/compare?a=1&b=2");
  const table = await screen.findByLabelText(/^Metrics of/, { selector: "table" });
  expect(screen.getByText(/^Some numbers were measured on one day each/)).toBeInTheDocument();
  expect(screen.getByText(/^One make each: some file systems were made once/)).toBeInTheDocument();
  const [, ...rows] = table.querySelectorAll("tr");
  const texts = rows.map((row) => row.textContent ?? "");
  const wanted: [string, RegExp][] = [
    ["Pairs", /better B .*% higher.*error from 8 pairs of neighbouring runs/],
    ["Makes", /better B .*% higher.*error from the means of 8 makes/],
    ["One make each", /better B .*% higher.*error from the scatter of runs on one make each: the make may/],
    ["Days", /better B .*% higher.*error from the medians of 8 days/],
    ["History", /better B .*% higher.*error from the day-to-day scatter of its last 20 campaigns/],
    ["Workload", /better B .*% higher.*error from the day-to-day scatter of 3 series of this workload/],
    ["One day each", /[+−]\d+\.\d to [+−]\d+\.\d %measured on one day each: the day may be the cause$/],
    ["Third look", /better B .*% higherlook 3, after repeats were added: limits are stricter/],
  ];
  for (const [name, words] of wanted) {
    expect(texts.find((text) => text.startsWith(name))).toMatch(words);
  }
  expect(texts.find((text) => text.startsWith("One day each"))).not.toMatch(/better|worse|higher/);
});

it("compares many sides in the same way, with both modes of a bimodal side", async () => {
  await openValues("/compare?campaigns=%5B1%5D");
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
