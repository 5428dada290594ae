import { createRoute, lazyRouteComponent } from "@tanstack/react-router";
import * as z from "zod/mini";
import { OverviewPage } from "@/app/pages/OverviewPage";
import { idIn, idParam, optional, text } from "./params";
import { requireLogin, shell } from "./shell";

const days = optional(z.union([z.literal(7), z.literal(30), z.literal(90), z.literal(365)]));
const boardView = z.object({ days });

export const overview = createRoute({
  getParentRoute: () => shell,
  path: "/",
  validateSearch: z.object({ days, workload: text, metric: text, operation: text, kind: text }),
  component: OverviewPage,
});

export const cluster = createRoute({
  getParentRoute: () => shell,
  path: "clusters/$clusterId",
  params: { parse: ({ clusterId }) => ({ clusterId: idIn(clusterId) }) },
  validateSearch: boardView,
  component: lazyRouteComponent(() => import("../pages/ClusterRoute")),
});

export const node = createRoute({
  getParentRoute: () => shell,
  path: "nodes/$nodeId",
  params: { parse: ({ nodeId }) => ({ nodeId: idIn(nodeId) }) },
  component: lazyRouteComponent(() => import("../pages/NodeRoute")),
});

export const target = createRoute({
  getParentRoute: () => shell,
  path: "targets/$targetId",
  params: { parse: ({ targetId }) => ({ targetId: idIn(targetId) }) },
  component: lazyRouteComponent(() => import("../pages/TargetRoute")),
});

export const queue = createRoute({
  getParentRoute: () => shell,
  path: "queues/$clusterId",
  params: { parse: ({ clusterId }) => ({ clusterId: idIn(clusterId) }) },
  component: lazyRouteComponent(() => import("../pages/QueueRoute")),
});

export const glossary = createRoute({
  getParentRoute: () => shell,
  path: "glossary",
  validateSearch: z.object({ word: text }),
  component: lazyRouteComponent(() => import("../pages/GlossaryRoute")),
});

export const stripes = createRoute({
  getParentRoute: () => shell,
  path: "tools/stripes",
  validateSearch: z.object({ layout: text }),
  component: lazyRouteComponent(() => import("../pages/StripesRoute")),
});

export const settings = createRoute({
  getParentRoute: () => shell,
  path: "settings",
  beforeLoad: requireLogin,
  component: lazyRouteComponent(() => import("../pages/SettingsRoute")),
});

export const connect = createRoute({
  getParentRoute: () => shell,
  path: "connect",
  beforeLoad: requireLogin,
  validateSearch: z.object({ login: text, name: text, at: text }),
  component: lazyRouteComponent(() => import("../pages/ConnectRoute")),
});

export const people = createRoute({
  getParentRoute: () => shell,
  path: "settings/people",
  beforeLoad: requireLogin,
  component: lazyRouteComponent(() => import("@/features/accounts/PeoplePage"), "PeoplePage"),
});

export const tokens = createRoute({
  getParentRoute: () => shell,
  path: "settings/tokens",
  beforeLoad: requireLogin,
  component: lazyRouteComponent(() => import("@/features/accounts/TokensPage"), "TokensPage"),
});

export const audit = createRoute({
  getParentRoute: () => shell,
  path: "settings/audit",
  beforeLoad: requireLogin,
  validateSearch: z.object({
    actor: text,
    action: text,
    kind: text,
    id: optional(idParam),
    cluster: optional(idParam),
    address: text,
    from: optional(z.iso.date()),
    to: optional(z.iso.date()),
    text,
  }),
  component: lazyRouteComponent(() => import("../pages/AuditRoute")),
});
