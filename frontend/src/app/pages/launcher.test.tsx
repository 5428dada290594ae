/** Who starts the runs of a cluster. */

import { listOf, openDashboard, USUAL_ANSWERS } from "@testing/openDashboard";
import { server } from "@testing/server";
import { screen, waitFor } from "@testing-library/react";
import { HttpResponse, http } from "msw";
import { beforeEach, expect, it } from "vitest";

const CLUSTER = { id: 1, name: "hpc1", description: "", launcher: "direct", drain: null };
const CHOICE = "Who starts the runs of cluster hpc1";

beforeEach(() => server.use(...USUAL_ANSWERS));

it("lets an admin have the runs of a cluster started as jobs of Slurm", async () => {
  let launcher = "direct";
  const said: unknown[] = [];
  server.use(
    http.get("*/api/v1/clusters", () => listOf([{ ...CLUSTER, launcher }])),
    http.patch("*/api/v1/clusters/1", async ({ request }) => {
      said.push(await request.json());
      launcher = "slurm";
      return HttpResponse.json({ ...CLUSTER, launcher });
    }),
  );
  const { user } = openDashboard("/clusters/1");
  await user.selectOptions(await screen.findByLabelText(CHOICE), "jobs of Slurm");
  await user.click(await screen.findByRole("button", { name: "Leave it" }));
  expect(said).toEqual([]);
  await user.selectOptions(screen.getByLabelText(CHOICE), "jobs of Slurm");
  await user.click(await screen.findByRole("button", { name: "Change it" }));
  await waitFor(() => expect(screen.getByLabelText(CHOICE)).toHaveValue("slurm"));
  expect(said).toEqual([{ launcher: "slurm" }]);
  expect(screen.getByText(/A gateway submits them/)).toBeInTheDocument();
});

it("shows why it may not be changed while runs are active", async () => {
  const error = {
    code: "cluster_busy",
    message: "2 runs are active in the cluster hpc1",
    remedy: "cancel them",
  };
  server.use(
    http.get("*/api/v1/clusters", () => listOf([CLUSTER])),
    http.patch("*/api/v1/clusters/1", () => HttpResponse.json({ error }, { status: 409 })),
  );
  const { user } = openDashboard("/clusters/1");
  await user.selectOptions(await screen.findByLabelText(CHOICE), "jobs of LSF");
  await user.click(await screen.findByRole("button", { name: "Change it" }));
  expect(await screen.findByText("2 runs are active in the cluster hpc1")).toBeInTheDocument();
  expect(screen.getByLabelText(CHOICE)).toHaveValue("direct");
});
