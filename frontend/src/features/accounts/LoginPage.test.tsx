import { server } from "@testing/server";
import { HttpResponse, http } from "msw";
import { expect, it, vi } from "vitest";

vi.mock("@/components/links", () => ({
  TextLink: ({ children }: { children: string }) => <a href="/">{children}</a>,
}));

import { renderWithApp } from "@testing/render";
import { screen } from "@testing-library/react";
import { LoginPage } from "./LoginPage";

function show(
  providerError: string | null = null,
  ways = { provider_name: null as string | null, is_open_for_reading: false },
) {
  server.use(http.get("*/api/v1/session/ways", () => HttpResponse.json(ways)));
  return renderWithApp(
    <LoginPage
      landing="/runs?state=failed"
      linkError={null}
      onDone={() => {}}
      providerError={providerError}
    />,
  );
}

it("links to the identity provider with the requested page", async () => {
  show(null, { provider_name: "Campus", is_open_for_reading: true });
  const way = await screen.findByRole("link", { name: "Sign in with Campus" });
  expect(way).toHaveAttribute("href", "/api/v1/session/provider?next=%2Fruns%3Fstate%3Dfailed");
  expect(screen.getByText("Continue as guest (read-only)")).toBeInTheDocument();
});

it("shows no provider if none is configured", async () => {
  show();
  await screen.findByRole("button", { name: "Sign in" });
  expect(screen.queryByRole("link", { name: /Sign in with/ })).toBeNull();
});

it("explains a refusal of the provider without showing the code in the address", () => {
  show("no_role");
  expect(screen.getByRole("alert")).toHaveTextContent("None of your groups has a role here");
});

it("shows a general message for unknown codes", () => {
  show("<b>mallory</b>");
  expect(screen.getByRole("alert")).toHaveTextContent("Sign-in failed");
  expect(screen.queryByText(/mallory/)).toBeNull();
});

it("counts down the seconds of a throttled sign-in and disables the form", async () => {
  server.use(
    http.post("*/api/v1/session", () =>
      HttpResponse.json(
        {
          error: {
            code: "too_many_attempts",
            message: "too many attempts failed",
            field: null,
            value: null,
            remedy: "wait",
          },
        },
        { status: 429, headers: { "Retry-After": "840" } },
      ),
    ),
  );
  const { user } = show();
  await user.type(screen.getByLabelText(/Name/), "grace");
  await user.type(screen.getByLabelText(/^Password/), "guessed");
  await user.click(screen.getByRole("button", { name: "Sign in" }));
  // The countdown must not be announced every second like the rest of the alert.
  expect(await screen.findByRole("timer")).toHaveTextContent(/^1(4 min|3 min 59 s)$/);
  expect(screen.getByRole("button", { name: "Sign in" })).toBeDisabled();
});
