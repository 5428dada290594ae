/** Parents of all addresses: the root, the sign-in page and the shell of the pages behind it. */

import type { QueryClient } from "@tanstack/react-query";
import {
  createRootRouteWithContext,
  createRoute,
  lazyRouteComponent,
  redirect,
} from "@tanstack/react-router";
import * as z from "zod/mini";
import { ApiError } from "@/api/errors";
import { NotFound } from "@/app/RouteError";
import { Shell } from "@/app/Shell";
import { logInByLink, sessionQuery } from "@/features/accounts/queries";
import { localPath } from "../localPath";
import { RouteError } from "../RouteError";
import { optional } from "./params";

export interface Context {
  readonly queryClient: QueryClient;
}

export const root = createRootRouteWithContext<Context>()({
  notFoundComponent: NotFound,
  errorComponent: RouteError,
});

export const login = createRoute({
  getParentRoute: () => root,
  path: "login",
  validateSearch: z.object({ next: optional(z.string()), error: optional(z.string()) }),
  loaderDeps: ({ search }) => search,
  loader: async ({ deps: { next }, location, context }) => {
    // The secret of a one-time link is in the fragment, which browsers do not send to servers.
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
  component: lazyRouteComponent(() => import("../pages/LoginRoute")),
});

export async function requireLogin({ context, location }: { context: Context; location: { href: string } }) {
  const { principal } = await context.queryClient.ensureQueryData(sessionQuery);
  if (principal.kind === "anonymous")
    throw redirect({ to: "/login", search: { next: location.href }, replace: true });
}

export const shell = createRoute({
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
