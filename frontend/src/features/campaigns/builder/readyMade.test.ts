import { describe, expect, it } from "vitest";
import { EMPTY_DRAFT, missingParts, planOf } from "./draft";
import { missingWorkloads, READY_MADE, withReadyMade } from "./readyMade";

const planned = (key: string) => {
  const found = READY_MADE.find((made) => made.key === key);
  if (!found) throw new Error(`no ready-made campaign ${key}`);
  return found.plan;
};
const own = {
  ...EMPTY_DRAFT,
  nodes: ["a", "b", "c"],
  targets: ["disk", "nfs"],
  window: { from: "22:00", until: "05:00", timeZone: "UTC" },
};

it("has a campaign for each question, and the nine experiments", () => {
  expect(READY_MADE.map(({ key }) => key)).toEqual([
    ...["quick-check", "iozone-surface", "metadata", "scaling", "mixed"],
    ...Array.from({ length: 9 }, (_, index) => `experiment-${index + 1}`),
  ]);
});

describe("a ready-made campaign", () => {
  it.each(READY_MADE.map(({ key }) => key))(
    "%s is complete with the nodes and targets of this site",
    (key) => {
      const announced = planned(key).workloads.map(({ workload: name }) => ({ name, options_schema: {} }));
      expect(missingParts(withReadyMade(own, planned(key)), announced as never)).toEqual([]);
    },
  );

  it("keeps nodes, targets, hours and a name that was entered", () => {
    expect(withReadyMade(own, planned("metadata"))).toMatchObject({
      name: "metadata",
      nodes: own.nodes,
      targets: own.targets,
      window: own.window,
      repeats: 6,
      exclusive: "node+target",
    });
    expect(withReadyMade({ ...own, name: "mine" }, planned("metadata")).name).toBe("mine");
  });

  it("scales over the nodes of this site", () => {
    const draft = withReadyMade(own, planned("scaling"));
    expect(planOf(draft, "lab", []).nodes_at_once).toEqual([1, 2, 3]);
  });

  it("runs a workload once that only differed in nodes and targets", () => {
    expect(withReadyMade(own, planned("experiment-5")).choices).toHaveLength(1);
    const again = withReadyMade(own, planned("experiment-6")).choices;
    expect(again.map(({ places }) => places?.targets_at_once ?? false)).toEqual([false, true, false, true]);
  });

  it("names workloads that the cluster cannot run", () => {
    expect(missingWorkloads(planned("experiment-6"), [{ name: "dd" }])).toEqual(["iozone"]);
  });
});
