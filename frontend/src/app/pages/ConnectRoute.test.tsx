import { openDashboard, USUAL_ANSWERS } from "@testing/openDashboard";
import { server } from "@testing/server";
import { screen } from "@testing-library/react";
import { HttpResponse, http } from "msw";
import { beforeEach, expect, it } from "vitest";

const DIGEST = "00443214c7".padEnd(64, "0");
const AT = "2026-11-21T10:00:00Z";

beforeEach(() => server.use(...USUAL_ANSWERS));

it("confirms the login whose code the terminal shows", async () => {
  const sent: unknown[] = [];
  server.use(
    http.post("*/api/v1/tokens/login", async ({ request }) => {
      sent.push(await request.json());
      return HttpResponse.json({ id: 3, name: "iotide on login1" }, { status: 201 });
    }),
  );
  const { user } = openDashboard(`/connect?login=sha256-${DIGEST}&name=iotide+on+login1&at=${AT}`);
  expect(await screen.findByText("ABCD-EFGH")).toBeInTheDocument();
  await user.click(screen.getByRole("button", { name: "Confirm sign-in" }));
  expect(await screen.findByText("iotide on login1 is signed in")).toBeInTheDocument();
  expect(sent).toEqual([
    { name: "iotide on login1", secret_sha256: DIGEST, asked_at: AT, scopes: ["read", "operate"] },
  ]);
});

it("asks for the whole address", async () => {
  openDashboard(`/connect?login=sha256-${DIGEST.slice(1)}&name=x&at=${AT}`);
  expect(await screen.findByText(/This address is incomplete/)).toBeInTheDocument();
  expect(screen.queryByRole("button", { name: "Confirm sign-in" })).toBeNull();
});
