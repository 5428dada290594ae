import "./app.css";
import "@mantine/core/styles.layer.css";
import { I18nProvider } from "@lingui/react";
import { MantineProvider } from "@mantine/core";
import { QueryClientProvider } from "@tanstack/react-query";
import { RouterProvider } from "@tanstack/react-router";
import { lazy, StrictMode, Suspense } from "react";
import { createRoot } from "react-dom/client";
import { sessionQuery } from "@/features/accounts/queries";
import { i18n } from "@/lib/language";
import { createQueryClient } from "./queryClient";
import { createAppRouter } from "./router";
import { trend } from "./routes/findings";
import { prepareTrend } from "./routes/prepareTrend";
import { shell } from "./routes/shell";
import { cssVariables, theme } from "./theme";

/** Resolve at the first paint. A background tab paints when it is first shown. */
function firstPaint(): Promise<void> {
  return new Promise((resolve) => {
    new PerformanceObserver((list, observer) => {
      if (list.getEntriesByName("first-contentful-paint").length === 0) return;
      observer.disconnect();
      resolve();
    }).observe({ type: "paint", buffered: true });
  });
}

// Notifications are not needed before the first paint.
const Toasts = lazy(() => firstPaint().then(() => import("./Toasts")));

const queryClient = createQueryClient(() => {
  const next = location.pathname + location.search;
  void router.navigate({ to: "/login", search: { next } });
});
const router = createAppRouter({ queryClient });
// Load the page's code, and a trend's data, while the session is requested. If one fails, the router reports it.
for (const { routeId } of router.matchRoutes(router.latestLocation.pathname)) {
  if (routeId === shell.id) void queryClient.prefetchQuery(sessionQuery);
  router.loadRouteChunk(router.routesById[routeId])?.catch(() => undefined);
}
for (const { routeId, params, search } of router.matchRoutes(router.latestLocation))
  if (routeId === trend.id) prepareTrend(queryClient, params.clusterId, search);

const place = document.getElementById("root");
if (!place) throw new Error("index.html lacks its root element");

createRoot(place).render(
  <StrictMode>
    <I18nProvider i18n={i18n}>
      <QueryClientProvider client={queryClient}>
        <MantineProvider cssVariablesResolver={cssVariables} defaultColorScheme="auto" theme={theme}>
          <RouterProvider router={router} />
          <Suspense>
            <Toasts />
          </Suspense>
        </MantineProvider>
      </QueryClientProvider>
    </I18nProvider>
  </StrictMode>,
);
