/** Every address of the dashboard and what its search parameters mean. */

import type { QueryClient } from "@tanstack/react-query";
import {
  createRootRouteWithContext,
  createRoute,
  createRouter,
  lazyRouteComponent,
  notFound,
  redirect,
} from "@tanstack/react-router";
import * as z from "zod/mini";
import { ApiError } from "@/api/errors";
import { ALERT_STATES, CAMPAIGN_STATES, STATES } from "@/api/states";
import { logInByLink, sessionQuery } from "@/features/accounts/queries";
import { localPath } from "./localPath";
import { NotFound } from "./NotFound";
import { OverviewPage } from "./pages/OverviewPage";
import { RouteError } from "./RouteError";
import { Shell } from "./Shell";

interface Context {
  readonly queryClient: QueryClient;
}

const stateParam = z.enum(STATES);
const idParam = z.coerce.number().check(z.int(), z.positive());

/** An id in the path; what is no id leads nowhere. */
function idIn(text: string): number {
  const id = idParam.safeParse(text);
  if (!id.success) throw notFound();
  return id.data;
}

/** An unreadable parameter is as good as none. */
const optional = <Schema extends z.core.$ZodType>(schema: Schema) => z.catch(z.optional(schema), undefined);

const root = createRootRouteWithContext<Context>()({
  notFoundComponent: NotFound,
  errorComponent: RouteError,
});

const login = createRoute({
  getParentRoute: () => root,
  path: "login",
  validateSearch: z.object({ next: optional(z.string()) }),
  loaderDeps: ({ search }) => search,
  loader: async ({ deps: { next }, location, context }) => {
    // The secret of a one-time link stands in the fragment, which browsers send to no server.
    const token = new URLSearchParams(location.hash).get("token");
    if (!token) return null;
    try {
      await logInByLink(token);
    } catch (error) {
      if (error instanceof ApiError) return error;
      throw error;
    }
    context.queryClient.clear();
    throw redirect({ href: localPath(next), replace: true });
  },
  component: lazyRouteComponent(() => import("./pages/LoginRoute")),
});

/** All pages behind the login. */
const shell = createRoute({
  getParentRoute: () => root,
  id: "shell",
  beforeLoad: async ({ context, location }) => {
    try {
      return await context.queryClient.ensureQueryData(sessionQuery);
    } catch (error) {
      if (!(error instanceof ApiError && error.status === 401)) throw error;
      throw redirect({ to: "/login", search: { next: location.href }, replace: true });
    }
  },
  component: Shell,
});

const overview = createRoute({
  getParentRoute: () => shell,
  path: "/",
  validateSearch: z.object({ node: optional(idParam) }),
  component: OverviewPage,
});

const campaigns = createRoute({
  getParentRoute: () => shell,
  path: "campaigns",
  validateSearch: z.object({ state: optional(z.enum(CAMPAIGN_STATES)) }),
  component: lazyRouteComponent(() => import("./pages/CampaignsRoute")),
});

const builder = createRoute({
  getParentRoute: () => shell,
  path: "campaigns/new",
  validateSearch: z.object({
    cluster: optional(idParam),
    from: optional(idParam),
    schedule: optional(idParam),
  }),
  component: lazyRouteComponent(() => import("./pages/BuilderRoute")),
});

const schedules = createRoute({
  getParentRoute: () => shell,
  path: "schedules",
  component: lazyRouteComponent(() => import("./pages/SchedulesRoute")),
});

const text = optional(z.string());
const figureParam = z.object({
  workload: text,
  show: text,
  beside: text,
  kind: optional(z.enum(["points", "map", "ratio", "parts"])),
  x: text,
  split: text,
  against: text,
  only: optional(z.record(z.string(), z.string())),
});

const campaign = createRoute({
  getParentRoute: () => shell,
  path: "campaigns/$campaignId",
  params: { parse: ({ campaignId }) => ({ campaignId: idIn(campaignId) }) },
  validateSearch: z.object({
    tab: optional(z.enum(["results", "runs", "plan"])),
    state: optional(stateParam),
    figure: optional(figureParam),
  }),
  component: lazyRouteComponent(() => import("./pages/CampaignRoute")),
});

const run = createRoute({
  getParentRoute: () => shell,
  path: "runs/$runId",
  params: { parse: ({ runId }) => ({ runId: idIn(runId) }) },
  validateSearch: z.object({ curves: optional(z.readonly(z.array(z.string()))) }),
  component: lazyRouteComponent(() => import("./pages/RunRoute")),
});

const target = createRoute({
  getParentRoute: () => shell,
  path: "targets/$targetId",
  params: { parse: ({ targetId }) => ({ targetId: idIn(targetId) }) },
  component: lazyRouteComponent(() => import("./pages/TargetRoute")),
});

const trend = createRoute({
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
  }),
  component: lazyRouteComponent(() => import("./pages/TrendRoute")),
});

const queue = createRoute({
  getParentRoute: () => shell,
  path: "queues/$clusterId",
  params: { parse: ({ clusterId }) => ({ clusterId: idIn(clusterId) }) },
  component: lazyRouteComponent(() => import("./pages/QueueRoute")),
});

const trends = createRoute({
  getParentRoute: () => shell,
  path: "trends",
  component: lazyRouteComponent(() => import("./pages/TrendsRoute")),
});

const changes = createRoute({
  getParentRoute: () => shell,
  path: "changes",
  validateSearch: z.object({
    cluster: optional(idParam),
    workload: text,
    direction: optional(z.enum(["better", "worse"])),
    unconfirmed: optional(z.boolean()),
  }),
  component: lazyRouteComponent(() => import("./pages/ChangesRoute")),
});

const compare = createRoute({
  getParentRoute: () => shell,
  path: "compare",
  validateSearch: z.object({
    a: optional(idParam),
    b: optional(idParam),
    a_cell: optional(idParam),
    b_cell: optional(idParam),
    metric: text,
  }),
  component: lazyRouteComponent(() => import("./pages/CompareRoute")),
});

const alerts = createRoute({
  getParentRoute: () => shell,
  path: "alerts",
  validateSearch: z.object({
    cluster: optional(idParam),
    state: optional(z.enum([...ALERT_STATES, "all"])),
    owner: text,
    kind: optional(z.enum(["change", "missing"])),
    group: optional(idParam),
  }),
  component: lazyRouteComponent(() => import("./pages/AlertsRoute")),
});

const alert = createRoute({
  getParentRoute: () => shell,
  path: "alerts/$alertId",
  params: { parse: ({ alertId }) => ({ alertId: idIn(alertId) }) },
  component: lazyRouteComponent(() => import("./pages/AlertRoute")),
});

const peers = createRoute({
  getParentRoute: () => shell,
  path: "peers",
  validateSearch: z.object({ cluster: optional(idParam), workload: text }),
  component: lazyRouteComponent(() => import("./pages/PeersRoute")),
});

const settings = createRoute({
  getParentRoute: () => shell,
  path: "settings",
  component: lazyRouteComponent(() => import("./pages/SettingsRoute")),
});

const pages = shell.addChildren([
  overview,
  campaigns,
  builder,
  schedules,
  campaign,
  run,
  target,
  trend,
  queue,
  trends,
  changes,
  compare,
  alerts,
  alert,
  peers,
  settings,
]);

export function createAppRouter(context: Context) {
  return createRouter({
    routeTree: root.addChildren([login, pages]),
    context,
    defaultErrorComponent: RouteError,
    defaultPreload: false,
    scrollRestoration: true,
  });
}

declare module "@tanstack/react-router" {
  interface Register {
    router: ReturnType<typeof createAppRouter>;
  }
}
