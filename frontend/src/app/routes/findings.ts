import { createRoute, lazyRouteComponent, redirect } from "@tanstack/react-router";
import * as z from "zod/mini";
import { INCIDENT_STATES } from "@/api/states";
import { preparePlots, prepareSpatialPlots } from "@/plots/prepare";
import { figureParam, idIn, idParam, optional, text } from "./params";
import { prepareTrend } from "./prepareTrend";
import { shell } from "./shell";

/** Loads plotly at the same time as the code of a page. */
function loaded<Page>(page: Promise<Page>, prepare: () => void): Promise<Page> {
  prepare();
  return page;
}

const moment = optional(z.iso.datetime());
/** Two compared time ranges. */
const ranges = { a_from: moment, a_to: moment, b_from: moment, b_to: moment };

export const trends = createRoute({
  getParentRoute: () => shell,
  path: "trends",
  validateSearch: z.object({
    cluster: optional(idParam),
    workload: text,
    metric: text,
    by: optional(z.enum(["node", "cluster"])),
    from: moment,
    to: moment,
    ...ranges,
    zoomed: optional(z.boolean()),
    panels: optional(idParam),
  }),
  component: lazyRouteComponent(() => loaded(import("../pages/TrendsRoute"), preparePlots)),
});

export const trend = createRoute({
  getParentRoute: () => shell,
  path: "clusters/$clusterId/trend",
  params: { parse: ({ clusterId }) => ({ clusterId: idIn(clusterId) }) },
  validateSearch: z.object({
    workload: optional(z.string()),
    metric: optional(z.string()),
    target: optional(z.string()),
    variant: optional(z.string()),
    series: optional(z.readonly(z.array(z.number()))),
    cell: optional(idParam),
    zoomed: optional(z.boolean()),
    view: optional(z.enum(["table"])),
    from: moment,
    to: moment,
    ...ranges,
    event: optional(idParam),
  }),
  loaderDeps: ({ search: { workload, series, from, to } }) => ({ workload, series, from, to }),
  loader: ({ context, params, deps }) => prepareTrend(context.queryClient, params.clusterId, deps),
  component: lazyRouteComponent(() => loaded(import("../pages/TrendRoute"), preparePlots)),
});

/** Redirects to the incidents of the cluster, which have the changes. */
export const changes = createRoute({
  getParentRoute: () => shell,
  path: "changes",
  validateSearch: z.object({
    cluster: optional(idParam),
    workload: text,
    direction: optional(z.enum(["better", "worse"])),
  }),
  beforeLoad: ({ search: { cluster, direction } }) => {
    throw redirect({ to: "/incidents", search: { cluster, kind: direction }, replace: true });
  },
});

export const incidents = createRoute({
  getParentRoute: () => shell,
  path: "incidents",
  validateSearch: z.object({
    cluster: optional(idParam),
    state: optional(z.enum(INCIDENT_STATES)),
    kind: optional(z.enum(["worse", "better", "neither", "stale"])),
    owner: text,
    series: optional(idParam),
    target: optional(idParam),
  }),
  component: lazyRouteComponent(() => import("../pages/IncidentsRoute")),
});

export const incident = createRoute({
  getParentRoute: () => shell,
  path: "incidents/$incidentId",
  params: { parse: ({ incidentId }) => ({ incidentId: idIn(incidentId) }) },
  component: lazyRouteComponent(() => import("../pages/IncidentRoute")),
});

const comparisonParams = z.object({
  a: optional(idParam),
  b: optional(idParam),
  a_cell: optional(idParam),
  b_cell: optional(idParam),
  two: optional(z.boolean()),
  campaigns: optional(z.readonly(z.array(idParam))),
  cells: optional(z.readonly(z.array(idParam))),
  by: text,
  against: optional(z.number().check(z.int(), z.nonnegative())),
  metric: text,
});

export const compare = createRoute({
  getParentRoute: () => shell,
  path: "compare",
  validateSearch: comparisonParams,
  component: lazyRouteComponent(() => loaded(import("../pages/CompareRoute"), preparePlots)),
});

export const compareReport = createRoute({
  getParentRoute: () => shell,
  path: "compare/report",
  validateSearch: comparisonParams,
  component: lazyRouteComponent(() => import("../pages/CompareReportRoute")),
});

export const surfaces = createRoute({
  getParentRoute: () => shell,
  path: "surfaces",
  validateSearch: z.object({
    a: text,
    b: text,
    metric: text,
    operation: text,
    show: optional(z.enum(["a", "b", "difference"])),
    by: optional(z.enum(["amount", "percent"])),
    file: optional(idParam),
    record: optional(idParam),
  }),
  component: lazyRouteComponent(() => loaded(import("../pages/SurfacesRoute"), prepareSpatialPlots)),
});

/** Redirects to incidents. A group of alerts is an incident of the same number. */
export const alerts = createRoute({
  getParentRoute: () => shell,
  path: "alerts",
  validateSearch: z.object({ cluster: optional(idParam), owner: text, group: optional(idParam) }),
  beforeLoad: ({ search: { cluster, owner, group } }) => {
    if (group !== undefined)
      throw redirect({ to: "/incidents/$incidentId", params: { incidentId: group }, replace: true });
    throw redirect({ to: "/incidents", search: { cluster, owner }, replace: true });
  },
});

export const alert = createRoute({
  getParentRoute: () => shell,
  path: "alerts/$alertId",
  params: { parse: ({ alertId }) => ({ alertId: idIn(alertId) }) },
  component: lazyRouteComponent(() => import("../pages/AlertRoute")),
});

export const peers = createRoute({
  getParentRoute: () => shell,
  path: "peers",
  validateSearch: z.object({ cluster: optional(idParam), workload: text }),
  component: lazyRouteComponent(() => import("../pages/PeersRoute")),
});

export const published = createRoute({
  getParentRoute: () => shell,
  path: "published",
  validateSearch: z.object({
    source: text,
    cluster: optional(idParam),
    own: optional(idParam),
    figure: optional(figureParam),
  }),
  component: lazyRouteComponent(() => import("../pages/PublishedRoute")),
});
