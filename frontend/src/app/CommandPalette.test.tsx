import { listOf, openDashboard, USUAL_ANSWERS } from "@testing/openDashboard";
import { server } from "@testing/server";
import { screen, waitFor, within } from "@testing-library/react";
import { HttpResponse, http } from "msw";
import { beforeEach, expect, it, vi } from "vitest";

const C03 = { kind: "node", id: 33, name: "c03", cluster_id: 1, cluster_name: "hpc1" };
const CAMPAIGN = { kind: "campaign", id: 7, name: "c03-check", cluster_id: 1, cluster_name: "hpc1" };
const SERIES = {
  ...{ id: 5, title: "Throughput", workload: "dd", metric: "throughput", labels: { operation: "write" } },
  ...{ target_names: ["scratch"], cluster_id: 1, cluster_name: "hpc1" },
};

let asked: (string | null)[];

beforeEach(() => {
  asked = [];
  server.use(
    ...USUAL_ANSWERS,
    http.get("*/api/v1/tokens", () => listOf([])),
    http.get("*/api/v1/explorer/search", ({ request }) => {
      const text = new URL(request.url).searchParams.get("text") ?? "";
      asked.push(text);
      const named = [CAMPAIGN, C03].filter(({ name }) => name.includes(text));
      return HttpResponse.json({ named, series: text === "scratch" ? [SERIES] : [] });
    }),
  );
});

function gone(code: string) {
  return HttpResponse.json({ error: { code, message: "none" } }, { status: 404 });
}

async function openPalette() {
  const opened = openDashboard("/settings/tokens");
  await screen.findByRole("heading", { name: "Tokens" });
  await opened.user.keyboard("{Control>}k{/Control}");
  await screen.findByRole("textbox", { name: "Command" });
  return opened;
}

it("runs the first match on Enter and closes", async () => {
  const { user, router } = await openPalette();
  await user.keyboard("camp{Enter}");
  await waitFor(() => expect(router.state.location.pathname).toBe("/campaigns"));
  expect(screen.queryByRole("textbox", { name: "Command" })).not.toBeInTheDocument();
});

it("moves through the matches with the arrow keys", async () => {
  const { user, router } = await openPalette();
  await user.keyboard("{ArrowDown}{ArrowDown}{Enter}");
  await waitFor(() => expect(router.state.location.pathname).toBe("/schedules"));
});

it("finds a node by its name, before campaigns that only contain it", async () => {
  const { user, router } = await openPalette();
  await user.keyboard("c03");
  const found = within(await screen.findByRole("listbox", { name: "Commands" }));
  const options = await found.findAllByRole("option");
  expect(options.map(({ textContent }) => textContent)).toEqual([
    "c03 Node · hpc1",
    "c03-check (7) Campaign · hpc1",
  ]);
  server.use(http.get("*/api/v1/nodes/33", () => gone("node_not_found")));
  await user.keyboard("{Enter}");
  await waitFor(() => expect(router.state.location.pathname).toBe("/nodes/33"));
});

it("asks the server once typing pauses, not at each key", async () => {
  const { user } = await openPalette();
  await user.keyboard("c03");
  await screen.findByRole("option", { name: /^c03 Node/ });
  expect(asked).toEqual(["c03"]);
});

it("opens the trend of a series", async () => {
  server.use(
    ...["points", "analysis"].map((part) =>
      http.get(`*/api/v1/series/5/${part}`, () => gone("series_not_found")),
    ),
  );
  const { user, router } = await openPalette();
  await user.keyboard("scratch");
  await user.click(await screen.findByRole("option", { name: /^dd · write · scratch/ }));
  await waitFor(() => expect(router.state.location.pathname).toBe("/clusters/1/trend"));
  expect(router.state.location.search).toMatchObject({ workload: "dd", series: [5] });
});

it("reports that nothing matches", async () => {
  const { user } = await openPalette();
  await user.keyboard("xyz");
  expect(await screen.findByText("No matches.")).toBeInTheDocument();
});

it("opens a run by its number", async () => {
  server.use(http.get("*/api/v1/runs/71", () => gone("run_not_found")));
  server.use(http.get("*/api/v1/runs/71/*", () => gone("run_not_found")));
  const { user, router } = await openPalette();
  await user.keyboard("run 71{Enter}");
  await waitFor(() => expect(router.state.location.pathname).toBe("/runs/71"));
});

it("adds an event to a cluster without leaving the page", async () => {
  const { user, router } = await openPalette();
  await user.keyboard("add event");
  await user.click(await screen.findByRole("option", { name: "Add event Action · hpc1" }));
  expect(await screen.findByRole("dialog", { name: "Add event to hpc1" })).toBeInTheDocument();
  expect(router.state.location.pathname).toBe("/settings/tokens");
});

it("opens the documentation", async () => {
  const left = vi.spyOn(location, "assign").mockImplementation(() => undefined);
  const { user } = await openPalette();
  await user.keyboard("documentation{Enter}");
  expect(left).toHaveBeenCalledWith("/docs/");
});

it("signs out", async () => {
  const left = vi.spyOn(location, "assign").mockImplementation(() => undefined);
  server.use(http.delete("*/api/v1/session", () => HttpResponse.json({ provider_url: null })));
  const { user } = await openPalette();
  await user.keyboard("sign out{Enter}");
  await waitFor(() => expect(left).toHaveBeenCalledWith("/login"));
});

it("explains a word, after the names that contain it", async () => {
  const { user, router } = await openPalette();
  await user.keyboard("stale{Enter}");
  await waitFor(() => expect(router.state.location.pathname).toBe("/glossary"));
  expect(await screen.findByText(/^a series without new data/)).toBeInTheDocument();
  expect(screen.queryByText("maintenance window")).not.toBeInTheDocument();
});
