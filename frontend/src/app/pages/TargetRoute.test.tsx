import { openDashboard, USUAL_ANSWERS } from "@testing/openDashboard";
import { server } from "@testing/server";
import { screen, waitFor } from "@testing-library/react";
import { HttpResponse, http } from "msw";
import { beforeEach, expect, it } from "vitest";

const TARGET = {
  id: 4,
  cluster_id: 1,
  name: "scratch",
  path: "/scratch",
  scope: "node",
  reserve_bytes: null,
  confirms_suspects: false,
  retired_at: null,
  mounts: [],
  backed_by: [],
  stuck: [],
  drain: null,
};

beforeEach(() => server.use(...USUAL_ANSWERS));

it("enables confirmation runs on a target, and changes nothing else", async () => {
  const sent: unknown[] = [];
  let target = TARGET;
  server.use(
    http.get("*/api/v1/targets/4", () => HttpResponse.json(target)),
    http.get("*/api/v1/targets/4/facts", () =>
      HttpResponse.json({ places: [], backing: [], suggested_backing: [] }),
    ),
    http.patch("*/api/v1/targets/4", async ({ request }) => {
      sent.push(await request.json());
      target = { ...TARGET, confirms_suspects: true };
      return HttpResponse.json(target);
    }),
  );
  const { user } = openDashboard("/targets/4");
  await user.click(await screen.findByRole("button", { name: "Confirmation runs" }));
  const again = await screen.findByRole("switch", { name: /^Measure again when a change is suspected/ });
  expect(again).not.toBeChecked();
  await user.click(again);
  await waitFor(() => expect(again).toBeChecked());
  expect(sent).toEqual([{ confirms_suspects: true }]);
});
