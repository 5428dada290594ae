import { openDashboard, USUAL_ANSWERS } from "@testing/openDashboard";
import { server } from "@testing/server";
import { screen, within } from "@testing-library/react";
import { HttpResponse, http } from "msw";
import { expect, it } from "vitest";

const SOURCE = {
  key: "nus-svu-gpfs",
  authors: "Yeo Eng Hee (NUS SVU)",
  title: "Performance of a Parallel File System",
  place: "table of dd times",
  url: null,
  published_on: null,
  shows: "How long dd takes.",
  caution: "Averages of repeats.",
  claim: {
    words: "About 10 times as fast.",
    ratio: 10,
    metric: "duration",
    target: "nfs",
    against: "gpfs",
    ratios: [{ options: { file_size_bytes: 4e9 }, ratio: 4.152 }],
    is_supported: false,
    verdict: "Its own values give 4.2 times.",
  },
  campaigns: [
    {
      campaign_id: 7,
      campaign_name: "dd-gpfs",
      cluster_id: 9,
      cluster_name: "nus-svu",
      workload: "dd",
      runs: 12,
    },
  ],
};

function answerWith(items: object[]): void {
  server.use(...USUAL_ANSWERS);
  server.use(
    http.get("*/api/v1/published-sources", () => HttpResponse.json({ items })),
    http.get("*/api/v1/campaigns/7/measures", () => HttpResponse.json({ metrics: [], counters: [] })),
    http.get("*/api/v1/campaigns", () => HttpResponse.json({ items: [], next_cursor: null })),
  );
}

it("shows how to load published results if there are none", async () => {
  answerWith([]);
  openDashboard("/published");
  expect(await screen.findByText("iotide-server load-published")).toBeInTheDocument();
});

it("shows a source's claim next to the ratios of its own numbers", async () => {
  answerWith([SOURCE]);
  openDashboard("/published");
  expect(await screen.findByText("Claim not supported by its own numbers")).toBeInTheDocument();
  const ratios = within(screen.getByRole("table", { name: "Ratios of nfs to gpfs" }));
  expect(ratios.getByRole("row", { name: "File size 4 GB 4.2" })).toBeInTheDocument();
  const sources = within(screen.getByRole("table", { name: "Published sources" }));
  expect(sources.getByRole("row", { name: /NUS SVU.*nus-svu dd 12/ })).toBeInTheDocument();
});
