/** Renders a component with what every page has around it. */

import { MantineProvider } from "@mantine/core";
import { QueryClient, QueryClientProvider } from "@tanstack/react-query";
import { type RenderResult, render } from "@testing-library/react";
import userEvent, { type UserEvent } from "@testing-library/user-event";
import type { ReactNode } from "react";

export function renderWithApp(element: ReactNode): RenderResult & { user: UserEvent } {
  const client = new QueryClient({ defaultOptions: { queries: { retry: false } } });
  const result = render(
    <QueryClientProvider client={client}>
      <MantineProvider env="test">{element}</MantineProvider>
    </QueryClientProvider>,
  );
  return { ...result, user: userEvent.setup() };
}
