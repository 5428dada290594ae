import { listOf, openDashboard, USUAL_ANSWERS } from "@testing/openDashboard";
import { server } from "@testing/server";
import { screen, waitFor } from "@testing-library/react";
import { HttpResponse, http } from "msw";
import { beforeEach, expect, it } from "vitest";

const CLUSTER = { id: 1, name: "hpc1", description: "", launcher: "direct", drain: null };
const CHOICE = "Run launcher of cluster hpc1";

beforeEach(() => server.use(...USUAL_ANSWERS));

it("lets an admin run a cluster's runs as Slurm jobs", async () => {
  let launcher = "direct";
  const sent: unknown[] = [];
  server.use(
    http.get("*/api/v1/clusters", () => listOf([{ ...CLUSTER, launcher }])),
    http.patch("*/api/v1/clusters/1", async ({ request }) => {
      sent.push(await request.json());
      launcher = "slurm";
      return HttpResponse.json({ ...CLUSTER, launcher });
    }),
  );
  const { user } = openDashboard("/clusters/1");
  await user.selectOptions(await screen.findByLabelText(CHOICE), "Slurm jobs");
  await user.click(await screen.findByRole("button", { name: "Cancel" }));
  expect(sent).toEqual([]);
  await user.selectOptions(screen.getByLabelText(CHOICE), "Slurm jobs");
  await user.click(await screen.findByRole("button", { name: "Change launcher" }));
  await waitFor(() => expect(screen.getByLabelText(CHOICE)).toHaveValue("slurm"));
  expect(sent).toEqual([{ launcher: "slurm" }]);
  expect(screen.getByText(/to submit the jobs/)).toBeInTheDocument();
});

it("shows why the launcher cannot be changed while runs are active", async () => {
  const error = {
    code: "cluster_busy",
    message: "cluster hpc1 has active runs (2)",
    remedy: "cancel them",
  };
  server.use(
    http.get("*/api/v1/clusters", () => listOf([CLUSTER])),
    http.patch("*/api/v1/clusters/1", () => HttpResponse.json({ error }, { status: 409 })),
  );
  const { user } = openDashboard("/clusters/1");
  await user.selectOptions(await screen.findByLabelText(CHOICE), "LSF jobs");
  await user.click(await screen.findByRole("button", { name: "Change launcher" }));
  expect(await screen.findByText("cluster hpc1 has active runs (2)")).toBeInTheDocument();
  expect(screen.getByLabelText(CHOICE)).toHaveValue("direct");
});
