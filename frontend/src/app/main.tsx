/** Starts the dashboard. */

import "@mantine/core/styles.css";
import "./app.css";
import { MantineProvider } from "@mantine/core";
import { QueryClientProvider } from "@tanstack/react-query";
import { RouterProvider } from "@tanstack/react-router";
import { lazy, StrictMode, Suspense } from "react";
import { createRoot } from "react-dom/client";
import { createQueryClient } from "./queryClient";
import { createAppRouter } from "./router";
import { cssVariables, theme } from "./theme";

const Toasts = lazy(() => import("./Toasts"));

const queryClient = createQueryClient(() => {
  const next = location.pathname + location.search;
  void router.navigate({ to: "/login", search: { next } });
});
const router = createAppRouter({ queryClient });

const place = document.getElementById("root");
if (!place) throw new Error("index.html lacks its root element");

createRoot(place).render(
  <StrictMode>
    <QueryClientProvider client={queryClient}>
      <MantineProvider cssVariablesResolver={cssVariables} defaultColorScheme="auto" theme={theme}>
        <RouterProvider router={router} />
        <Suspense>
          <Toasts />
        </Suspense>
      </MantineProvider>
    </QueryClientProvider>
  </StrictMode>,
);
