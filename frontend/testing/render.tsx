import { I18nProvider } from "@lingui/react";
import { MantineProvider } from "@mantine/core";
import { QueryClient, QueryClientProvider } from "@tanstack/react-query";
import { type RenderResult, render } from "@testing-library/react";
import userEvent, { type UserEvent } from "@testing-library/user-event";
import type { ReactNode } from "react";
import { i18n } from "@/lib/language";

export function renderWithApp(element: ReactNode): RenderResult & { user: UserEvent } {
  const client = new QueryClient({ defaultOptions: { queries: { retry: false } } });
  const result = render(
    <I18nProvider i18n={i18n}>
      <QueryClientProvider client={client}>
        <MantineProvider env="test">{element}</MantineProvider>
      </QueryClientProvider>
    </I18nProvider>,
  );
  return { ...result, user: userEvent.setup() };
}
