/** Renders the whole dashboard with default responses. */

import { I18nProvider } from "@lingui/react";
import { MantineProvider } from "@mantine/core";
import { QueryClientProvider } from "@tanstack/react-query";
import { RouterProvider } from "@tanstack/react-router";
import { render } from "@testing-library/react";
import userEvent from "@testing-library/user-event";
import { HttpResponse, http } from "msw";
import { createQueryClient } from "@/app/queryClient";
import { createAppRouter } from "@/app/router";
import { i18n } from "@/lib/language";

/** A response with one page of a list. */
export function listOf(items: readonly unknown[]) {
  return HttpResponse.json({ items, next_cursor: null });
}

const ROLES = [{ role: "admin", cluster_id: null }];
const LISTS = [
  "campaigns",
  "campaign-groups",
  "campaign-headlines",
  "schedules",
  "templates",
  "channels",
  "clusters/1/blackouts",
  "clusters/1/join-tokens",
  "nodes",
  "targets",
  "workloads",
  "runs",
  "series",
  "samples",
  "alerts",
  "incidents",
  "alert-rules",
  "trend-events",
  "sessions",
  "scratch-sets",
];

const NO_ADVICE = { advice: [], not_known: [], looked_at: [], places: 0, cells: 0, is_cut: false };

/** For a cluster without nodes. */
export const NO_BOARD = {
  since: "2026-08-22T00:00:00Z",
  until: "2026-11-20T00:00:00Z",
  clusters: [
    {
      id: 1,
      name: "hpc1",
      nodes: { online: 0, stuck: 0, silent: 0, never_seen: 0, drained: 0, passed_over: 0 },
      targets: 0,
      open_incidents: 0,
    },
  ],
  workloads: [],
  cells: [],
  attention: [],
  attention_left_out: 0,
  is_cut: false,
};

export const NO_THROUGHPUT = {
  drawn: null,
  measures: [],
  target_kinds: [],
  clusters: [],
  clusters_left_out: 0,
  series_left_out: 0,
};
const NO_METRIC = { workload: null, metric: null, measured: [], series: [], is_cut: false };

/** Default responses: a signed-in admin, a cluster hpc1, and nothing else. */
export const USUAL_ANSWERS = [
  http.get("*/api/v1/session", () =>
    HttpResponse.json({ principal: { kind: "user", id: 1, name: "grace", roles: ROLES } }),
  ),
  http.get("*/api/v1/clusters", () =>
    listOf([{ id: 1, name: "hpc1", description: "", launcher: "direct", origin: "own" }]),
  ),
  http.get("*/api/v1/board", () => HttpResponse.json(NO_BOARD)),
  http.get("*/api/v1/board/throughput", () => HttpResponse.json(NO_THROUGHPUT)),
  http.get("*/api/v1/board/series", () => HttpResponse.json(NO_METRIC)),
  http.get("*/api/v1/drains", () => HttpResponse.json([])),
  http.get("*/api/v1/clusters/1/candidates", () => HttpResponse.json([])),
  http.get("*/api/v1/clusters/1/nodes", () => listOf([])),
  http.get("*/api/v1/clusters/1/pending-nodes", () => listOf([])),
  http.get("*/api/v1/:kind/:id/advice", () => HttpResponse.json(NO_ADVICE)),
  http.get("*/api/v1/clusters/1/queue", () => HttpResponse.json({ waiting: 0, runs: [] })),
  http.get("*/api/v1/published-sources", () => HttpResponse.json({ items: [] })),
  http.get("*/api/v1/campaigns/:id/measurements", () => listOf([])),
  http.get("*/api/v1/campaigns/:id/timeline", ({ params }) =>
    HttpResponse.json({
      campaign_id: Number(params.id),
      at: "2026-11-20T00:00:00Z",
      ...{ orders: [], leases: [], others: [], waiting: [], left_out: 0 },
    }),
  ),
  http.get("*/api/v1/campaigns/:id/conduct", () => HttpResponse.json({ runs: 0, load_not_measured: 0 })),
  ...LISTS.map((name) => http.get(`*/api/v1/${name}`, () => listOf([]))),
];

export function openDashboard(address: string) {
  history.replaceState(null, "", address);
  const client = createQueryClient(() => undefined);
  const router = createAppRouter({ queryClient: client });
  const { unmount } = render(
    <I18nProvider i18n={i18n}>
      <QueryClientProvider client={client}>
        <MantineProvider env="test">
          <RouterProvider router={router} />
        </MantineProvider>
      </QueryClientProvider>
    </I18nProvider>,
  );
  return { client, router, unmount, user: userEvent.setup() };
}
