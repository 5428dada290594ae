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

it("offers the provider, which leads back to the page that was wanted", async () => {
  show(null, { provider_name: "Campus", is_open_for_reading: true });
  const way = await screen.findByRole("link", { name: "Log in with Campus" });
  expect(way).toHaveAttribute("href", "/api/v1/session/provider?next=%2Fruns%3Fstate%3Dfailed");
  expect(screen.getByText("Look around without logging in")).toBeInTheDocument();
});

it("offers neither where there is none", async () => {
  show();
  await screen.findByRole("button", { name: "Log in" });
  expect(screen.queryByRole("link", { name: /Log in with/ })).toBeNull();
});

it("says why the way over the provider led back, and never what stands in the address", () => {
  show("no_role");
  expect(screen.getByRole("alert")).toHaveTextContent("Your groups give you no role");
});

it("has a word for codes that it does not know", () => {
  show("<b>mallory</b>");
  expect(screen.getByRole("alert")).toHaveTextContent("The login failed");
  expect(screen.queryByText(/mallory/)).toBeNull();
});

it("counts down the seconds of a throttled login and lets nobody try meanwhile", async () => {
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
  await user.click(screen.getByRole("button", { name: "Log in" }));
  // A timer is not read out at each second, as the rest of the notice would be.
  expect(await screen.findByRole("timer")).toHaveTextContent(/^1(4 min|3 min 59 s)$/);
  expect(screen.getByRole("button", { name: "Log in" })).toBeDisabled();
});
