import forms from "@testing/forms.json";
import { describe, expect, it } from "vitest";
import type { CampaignPlan, Workload } from "@/api/types";
import {
  addChoice,
  addStage,
  type Draft,
  doubledCounts,
  draftOf,
  EMPTY_DRAFT,
  missingParts,
  moveStageUp,
  pickNodes,
  planOf,
  refusedOption,
} from "./draft";
import { planAsCurl, planAsYaml } from "./export";

const workloads = [
  {
    name: "dd",
    options_schema: {
      properties: {
        file_size_bytes: { type: "integer", minimum: 1, "x-unit": "bytes", default: 1_073_741_824 },
        jobs: { type: "integer", default: 1 },
      },
    },
  },
] as unknown as Workload[];

const complete: Draft = {
  ...EMPTY_DRAFT,
  name: "nightly",
  nodes: ["node-a"],
  targets: ["disk"],
  choices: [
    { key: 0, workload: "dd", options: { jobs: "4" }, sweep: { file_size_bytes: ["64 MiB", "1 GiB"] } },
  ],
};
const plan: CampaignPlan = planOf(complete, "demo", workloads);

describe("missingParts", () => {
  it("is empty for a complete draft", () => {
    expect(missingParts(complete, workloads)).toEqual([]);
  });

  it("lists everything that a new draft lacks", () => {
    expect(missingParts(EMPTY_DRAFT, workloads)).toHaveLength(4);
  });

  it("reports an unreadable option", () => {
    const choices = [{ key: 0, workload: "dd", options: { file_size_bytes: "64 Q" }, sweep: {} }];
    expect(missingParts({ ...complete, choices }, workloads)).toEqual(["Correct the options marked in red."]);
  });

  it("reports an empty number, but accepts 0", () => {
    expect(missingParts({ ...complete, repeats: "", priority: 0 }, workloads)).toEqual([
      "Enter the number of repeats.",
    ]);
  });

  it.each(["soon", "0 s", "-1 h"])("rejects the time limit %s", (timeLimit) => {
    expect(missingParts({ ...complete, timeLimit }, workloads)).toEqual(["Correct the time limit."]);
  });
});

it("sends numbers as numbers, sizes as written and the time limit in seconds", () => {
  expect(plan).toMatchObject({
    cluster: "demo",
    time_limit_seconds: 3600,
    workloads: [{ workload: "dd", options: { jobs: 4 }, sweep: { file_size_bytes: ["64 MiB", "1 GiB"] } }],
  });
});

it("duplicates a plan without changing what it means", () => {
  expect(planOf(draftOf(plan), "demo", workloads)).toEqual(plan);
});

it("keeps the file systems that a node makes", () => {
  const scratch = {
    node: "n1",
    set: "bays",
    layouts: [{ raid: 0, disks: 2, chunk_bytes: 65_536, bitmap: "none", arrays: 1, start: "1MiB" }],
    filesystems: [{ type: "ext4" }],
    rounds: 2,
    sync: "wait",
    precondition: "none",
    size_percent: 100,
    except_impossible: false,
  } satisfies (typeof plan)["scratch"];
  const made = { ...plan, scratch };
  expect(planOf(draftOf(made), "demo", workloads)).toEqual(made);
});

it("restores a plan with auto sizes, single and swept, unchanged", () => {
  const announced = Object.entries(forms).map(([name, options_schema]) => ({ name, options_schema }));
  const auto: CampaignPlan = {
    ...plan,
    workloads: [
      { workload: "dd", options: { file_size_bytes: "auto", block_size_bytes: "16 MiB" }, sweep: {} },
      { workload: "bonnie", options: {}, sweep: { file_size_bytes: ["auto", 68_719_476_736] } },
      { workload: "iozone", options: { file_size_bytes: "auto", mode: "auto" }, sweep: {} },
    ],
  };
  const reopened = draftOf(auto);
  expect(missingParts(reopened, announced as unknown as Workload[])).toEqual([]);
  expect(planOf(reopened, "demo", announced as unknown as Workload[])).toEqual(auto);
});

it("gives each added workload a key of its own, also after one was removed", () => {
  const two = addChoice(addChoice(EMPTY_DRAFT, "dd"), "dd");
  const three = addChoice({ ...two, choices: two.choices.slice(1) }, "dd");
  expect(three.choices.map(({ key }) => key)).toEqual([1, 2]);
});

it("finds the option that the server rejected", () => {
  expect(refusedOption("workloads[1].options.file_size_bytes")).toEqual({
    index: 1,
    option: "file_size_bytes",
  });
  expect(refusedOption("workloads[0].sweep.jobs[2]")).toEqual({ index: 0, option: "jobs" });
  expect(refusedOption("targets[1]")).toBeNull();
  expect(refusedOption(null)).toBeNull();
});

describe("nodes at once", () => {
  const three = pickNodes({ ...complete, nodesAtOnce: [1, 2] }, ["node-a", "node-b", "node-c"]);

  it("scale up to all nodes, also after one was added", () => {
    expect(doubledCounts(12)).toEqual([1, 2, 4, 8, 12]);
    expect(planOf(three, "demo", workloads).nodes_at_once).toEqual([1, 2, 3]);
  });

  it("are kept when the plan is opened again", () => {
    const planned = planOf(three, "demo", workloads);
    expect(planOf(draftOf(planned), "demo", workloads)).toEqual(planned);
    expect(planAsYaml(planned)).toContain("nodes_at_once: [1, 2, 3]\n");
  });

  it("are off with a single node", () => {
    expect(planOf({ ...complete, nodesAtOnce: true }, "demo", workloads).nodes_at_once).toBe(false);
  });

  it("require at least one count", () => {
    expect(missingParts({ ...three, nodesAtOnce: [] }, workloads)).toEqual([
      "Choose how many nodes run at once.",
    ]);
  });
});

describe("monitored nodes", () => {
  const watched: Draft = { ...complete, observers: ["server"] };

  it("are in the plan and again in the draft that repeats it", () => {
    const planned = planOf(watched, "demo", workloads);
    expect(planned.observers).toEqual(["server"]);
    expect(planOf(draftOf(planned), "demo", workloads)).toEqual(planned);
    expect(planAsYaml(planned)).toContain("observers: [server]\n");
  });

  it("are no longer monitored once selected for load", () => {
    expect(pickNodes(watched, ["node-a", "server"]).observers).toEqual([]);
  });

  it("may run load in other runs if an earlier plan says so", () => {
    const each = planOf({ ...watched, nodes: ["node-a", "server"] }, "demo", workloads);
    expect(planOf(pickNodes(draftOf(each), [...each.nodes, "node-b"]), "demo", workloads).observers).toEqual([
      "server",
    ]);
  });
});

it.each([[[{ sender: "node-a", receiver: "node-b" }]], ["each_pair" as const]])(
  "has the roles %j again in the draft that repeats a plan",
  (roles) => {
    const two = { ...pickNodes(complete, ["node-a", "node-b"]), nodesAtOnce: true };
    const between = { ...two, choices: two.choices.map((choice) => ({ ...choice, roles })) };
    const planned = planOf(between, "demo", workloads);
    expect(planned.workloads[0]).toMatchObject({ roles, nodes_at_once: null });
    expect(planOf(draftOf(planned), "demo", workloads)).toEqual(planned);
    expect(missingParts(pickNodes(between, ["node-a"]), workloads)).toEqual([
      "Choose two different nodes, a sender and a receiver.",
    ]);
  },
);

it("keeps a workload's own nodes, targets and stages", () => {
  const places = {
    nodes: ["node-a"],
    nodes_at_once: null,
    observers: null,
    targets: ["disk"],
    targets_at_once: null,
    variants: null,
  };
  const own = { ...plan, workloads: [{ ...plan.workloads[0], ...places }] };
  expect(planOf(draftOf(own as CampaignPlan), "demo", workloads).workloads[0]).toMatchObject(places);
  expect(planAsYaml(own as CampaignPlan)).toContain(
    "- workload: dd\n    nodes: [node-a]\n    targets: [disk]\n    options:",
  );
});

describe("a workload's own nodes, targets and stages", () => {
  const { workloads: [only] = [] } = plan;
  const own = draftOf({
    ...plan,
    nodes: ["node-a", "node-b"],
    targets: ["disk", "tape"],
    stages: [{ variant: "xfs " }, { variant: "ext3" }],
    workloads: [
      { ...only, workload: "dd", nodes: ["node-b"], targets: ["disk", "tape"], variants: ["xfs "] },
    ],
  });
  const planned = (draft: Draft) => planOf(draft, "demo", workloads).workloads[0];

  it("follow renamed stages, even through another stage's name", () => {
    expect(planned(own)?.variants).toEqual(["xfs"]);
    const rename = (draft: Draft, variant: string): Draft => ({
      ...draft,
      stages: draft.stages.map((stage, index) => (index === 0 ? { ...stage, variant } : stage)),
    });
    const renamed = rename(rename(own, "ext3"), "ext3 data=journal");
    expect(planned(renamed)?.variants).toEqual(["ext3 data=journal"]);
  });

  it("drop what the campaign no longer has, and regain it when selected again", () => {
    const fewer = { ...own, targets: ["tape"] };
    expect(planned(fewer)).toMatchObject({ nodes: ["node-b"], targets: ["tape"] });
    expect(missingParts(fewer, workloads)).toEqual([]);
    expect(planned({ ...fewer, targets: own.targets })?.targets).toEqual(["disk", "tape"]);
  });

  it.each([
    { nodes: ["node-a"] },
    { targets: ["ssd"] },
    { stages: own.stages.slice(1) },
    { stages: addStage({ ...own, stages: [] }).stages.map((stage) => ({ ...stage, variant: "zfs" })) },
  ])("holds back the plan of a workload that has none left: %j", (change) => {
    expect(missingParts({ ...own, ...change }, workloads)).toEqual([
      expect.stringContaining("has none left"),
    ]);
  });
});

it("exports YAML without empty parts", () => {
  expect(planAsYaml(plan)).toBe(`name: nightly
cluster: demo
nodes: [node-a]
nodes_at_once: false
targets: [disk]
targets_at_once: false
workloads:
  - workload: dd
    options:
      jobs: 4
    sweep:
      file_size_bytes: ["64 MiB", "1 GiB"]
repeats: 4
exclusive: node
cache: drop
cool_down_seconds: 0
quiet: flag
quiet_wait_seconds: 60
time_limit_seconds: 3600
attempts_allowed: 2
priority: 0
`);
});

it("writes stages with pauses in their current order", () => {
  const one = addStage(addStage(complete));
  const named = one.stages.map((stage, index) => ({ ...stage, variant: index === 0 ? "xfs" : "ext3" }));
  const moved = moveStageUp({ ...one, stages: named }, 1);
  const paused = moved.stages.map((stage, index) => ({ ...stage, pause: index === 1 ? "format it" : "" }));
  const staged = planOf({ ...moved, stages: paused }, "demo", workloads);
  expect(staged.stages).toEqual([
    { variant: "ext3", pause: null },
    { variant: "xfs", pause: "format it" },
  ]);
  expect(planOf(draftOf(staged), "demo", workloads)).toEqual(staged);
  expect(planAsYaml(staged)).toContain(
    "stages:\n  - variant: ext3\n  - variant: xfs\n    pause: format it\n",
  );
});

it("exports a curl command with a body as one shell argument and no token", () => {
  const command = planAsCurl({ ...plan, note: "it's" }, "https://iotide.example", "key-1");
  expect(command).toContain("$IOTIDE_TOKEN");
  expect(command).toContain(`"note": "it'\\''s"`);
  expect(command).toContain("Idempotency-Key: key-1");
});
