/** Addresses of the settings, and of the pages about people, tokens and what was done that belong to them. */

import { createRoute, lazyRouteComponent } from "@tanstack/react-router";
import * as z from "zod/mini";
import { idParam, optional, text } from "./params";
import { requireLogin, shell } from "./shell";

export const settings = createRoute({
  getParentRoute: () => shell,
  path: "settings",
  beforeLoad: requireLogin,
  component: lazyRouteComponent(() => import("../pages/SettingsRoute")),
});

export const people = createRoute({
  getParentRoute: () => shell,
  path: "settings/people",
  beforeLoad: requireLogin,
  component: lazyRouteComponent(() => import("../pages/PeopleRoute")),
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
