import { createRoute, lazyRouteComponent } from "@tanstack/react-router";
import * as z from "zod/mini";
import { CAMPAIGN_STATES } from "@/api/states";
import { STEPS } from "@/features/campaigns/builder/steps";
import { REMEDIES } from "@/lib/remedies";
import { figureParam, idIn, idParam, optional, stateParam, text } from "./params";
import { requireLogin, shell } from "./shell";

export const campaigns = createRoute({
  getParentRoute: () => shell,
  path: "campaigns",
  validateSearch: z.object({
    text,
    cluster: optional(idParam),
    state: optional(z.enum(CAMPAIGN_STATES)),
    schedule: optional(idParam),
    owner: text,
    sort: optional(z.enum(["newest", "oldest", "name"])),
    flat: optional(z.boolean()),
    open: optional(z.readonly(z.array(idParam))),
  }),
  component: lazyRouteComponent(() => import("../pages/CampaignsRoute")),
});

export const builder = createRoute({
  getParentRoute: () => shell,
  path: "campaigns/new",
  beforeLoad: requireLogin,
  validateSearch: z.object({
    cluster: optional(idParam),
    from: optional(idParam),
    schedule: optional(idParam),
    template: optional(idParam),
    with: optional(z.readonly(z.array(z.enum(REMEDIES)))),
    repeat: optional(z.literal("nightly")),
    step: optional(z.enum(STEPS)),
  }),
  component: lazyRouteComponent(() => import("../pages/BuilderRoute")),
});

export const schedules = createRoute({
  getParentRoute: () => shell,
  path: "schedules",
  component: lazyRouteComponent(
    () => import("@/features/campaigns/schedules/SchedulesPage"),
    "SchedulesPage",
  ),
});

export const campaign = createRoute({
  getParentRoute: () => shell,
  path: "campaigns/$campaignId",
  params: { parse: ({ campaignId }) => ({ campaignId: idIn(campaignId) }) },
  validateSearch: z.object({
    tab: optional(z.enum(["results", "runs", "timeline", "plan"])),
    state: optional(stateParam),
    figure: optional(figureParam),
    repeats: optional(z.readonly(z.array(idParam))),
    answer: text,
    from: optional(z.iso.datetime()),
    to: optional(z.iso.datetime({ offset: true })),
  }),
  component: lazyRouteComponent(() => import("../pages/CampaignRoute")),
});

export const report = createRoute({
  getParentRoute: () => shell,
  path: "campaigns/$campaignId/report",
  params: { parse: ({ campaignId }) => ({ campaignId: idIn(campaignId) }) },
  component: lazyRouteComponent(() => import("../pages/ReportRoute")),
});

export const runs = createRoute({
  getParentRoute: () => shell,
  path: "runs",
  validateSearch: z.object({
    cluster: optional(idParam),
    campaign: optional(idParam),
    node: optional(idParam),
    target: optional(idParam),
    workload: text,
    state: optional(stateParam),
    validity: optional(z.enum(["valid", "rejected"])),
    flag: text,
    from: text,
    to: text,
    text,
    sort: optional(z.enum(["newest", "oldest", "longest", "shortest", "highest", "lowest"])),
    columns: optional(z.readonly(z.array(z.string()))),
    pins: optional(z.readonly(z.array(idParam))),
    baseline: optional(idParam),
    view: optional(idParam),
  }),
  component: lazyRouteComponent(() => import("../pages/RunsRoute")),
});

export const run = createRoute({
  getParentRoute: () => shell,
  path: "runs/$runId",
  params: { parse: ({ runId }) => ({ runId: idIn(runId) }) },
  validateSearch: z.object({ curves: optional(z.readonly(z.array(z.string()))) }),
  component: lazyRouteComponent(() => import("../pages/RunRoute")),
});
