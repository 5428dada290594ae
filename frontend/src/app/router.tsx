import { createRouter } from "@tanstack/react-router";
import {
  audit,
  cluster,
  connect,
  glossary,
  node,
  overview,
  people,
  queue,
  settings,
  stripes,
  target,
  tokens,
} from "@/app/routes/places";
import { RouteError } from "./RouteError";
import { builder, campaign, campaigns, report, run, runs, schedules } from "./routes/campaigns";
import {
  alert,
  alerts,
  changes,
  compare,
  compareReport,
  incident,
  incidents,
  peers,
  published,
  surfaces,
  trend,
  trends,
} from "./routes/findings";
import { type Context, login, root, shell } from "./routes/shell";

const pages = shell.addChildren([
  overview,
  cluster,
  node,
  target,
  queue,
  campaigns,
  builder,
  schedules,
  campaign,
  report,
  runs,
  run,
  trends,
  trend,
  changes,
  incident,
  incidents,
  compare,
  compareReport,
  surfaces,
  alerts,
  alert,
  peers,
  published,
  glossary,
  stripes,
  connect,
  settings,
  people,
  tokens,
  audit,
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
