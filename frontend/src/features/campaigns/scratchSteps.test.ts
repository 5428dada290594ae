import { expect, it } from "vitest";
import type { Stage } from "@/api/types";
import { stepsOf } from "./scratchSteps";

const STAGE: Stage = {
  ordinal: 1,
  variant: "single / ext4 / default / noatime",
  does: "measure",
  pause: null,
  state: "held",
  paused_at: null,
  opened_at: null,
  confirmed_by: null,
  runs: 4,
  ended: 0,
  failed: 0,
  cancelled: 0,
  run_id: null,
  run_state: null,
};

function make(run_state: Stage["run_state"], state: Stage["state"] = "open"): Stage {
  return { ...STAGE, does: "make", state, runs: 1, run_id: 7, run_state };
}

function clean(run_state: Stage["run_state"]): Stage {
  return { ...make(run_state), does: "clean", variant: "clean" };
}

it.each([
  { made: make("waiting", "held"), measured: STAGE, state: "later" },
  { made: make("waiting"), measured: STAGE, state: "queued" },
  { made: make("active"), measured: STAGE, state: "making" },
  { made: make("finished"), measured: STAGE, state: "made" },
  { made: make("finished"), measured: { ...STAGE, state: "open", ended: 1 }, state: "open" },
  { made: make("finished"), measured: { ...STAGE, state: "open", ended: 4 }, state: "ended" },
  {
    made: make("finished"),
    measured: { ...STAGE, state: "open", ended: 4, cancelled: 1 },
    state: "ended_partly",
  },
  { made: make("finished"), measured: { ...STAGE, ended: 4, failed: 2 }, state: "ended_partly" },
  { made: make("finished"), measured: { ...STAGE, ended: 4, failed: 4 }, state: "not_measured" },
  { made: make("finished"), measured: { ...STAGE, ended: 4, cancelled: 4 }, state: "not_measured" },
  { made: make("failed"), measured: { ...STAGE, ended: 4, cancelled: 4 }, state: "not_made" },
  { made: make("cancelled"), measured: { ...STAGE, ended: 4, cancelled: 4 }, state: "cancelled" },
] as const)(
  "a make that is $made.run_state before a stage with $measured.ended ended runs is $state",
  (step) => {
    expect(stepsOf([step.made, step.measured])).toMatchObject([
      { state: step.state, measured: step.measured },
    ]);
  },
);

it("shows the cleaning as the last step, and counts the rounds of each variant", () => {
  const other = { ...make("finished"), variant: "raid0 2x64K / ext4 / default / noatime" };
  const stages = [make("finished"), STAGE, other, STAGE, make("active"), STAGE, clean("active")];
  expect(stepsOf(stages).map(({ round, state }) => [round, state])).toEqual([
    [1, "made"],
    [1, "made"],
    [2, "making"],
    [0, "cleaning"],
  ]);
  expect(stepsOf([clean("failed")])).toMatchObject([{ state: "not_cleaned" }]);
});

it.each([
  { run_state: "waiting", state: "queued" },
  { run_state: "active", state: "filling" },
  { run_state: "finished", state: "filled" },
  { run_state: "failed", state: "not_filled" },
  { run_state: "cancelled", state: "cancelled" },
] as const)("a fill that is $run_state is $state, in the round of its make", ({ run_state, state }) => {
  const fill: Stage = { ...make(run_state), does: "fill" };
  expect(stepsOf([make("finished"), fill, STAGE])).toMatchObject([
    { round: 1, state: "made", measured: STAGE },
    { round: 1, state, measured: STAGE },
  ]);
});

it("shows the mount on clients as a step between a make and its measurements", () => {
  const mount = (state: Stage["run_state"]): Stage => ({ ...make(state), does: "mount" });
  const measured = { ...STAGE, ended: 4, cancelled: 4 };
  const stages = [make("finished"), mount("failed"), measured, make("finished"), mount("finished"), STAGE];
  expect(stepsOf(stages).map((step) => [step.stage.does, step.round, step.state])).toEqual([
    ["make", 1, "not_measured"],
    ["mount", 1, "not_mounted"],
    ["make", 2, "made"],
    ["mount", 2, "mounted"],
  ]);
  expect(stepsOf(stages)[1]?.measured).toBe(measured);
  expect(stepsOf([mount("active"), STAGE])[0]?.state).toBe("mounting");
});

it("has no steps for stages that an operator prepares", () => {
  expect(stepsOf([STAGE, { ...STAGE, ordinal: 2, pause: "Reformat the target." }])).toEqual([]);
});
