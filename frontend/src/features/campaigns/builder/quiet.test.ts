import { expect, it } from "vitest";
import type { CampaignPlan } from "@/api/types";
import { FLAGGED, planQuiet, quietOf, quietProblem } from "./quiet";

it("keeps what an earlier plan says of other load", () => {
  const plan = { quiet: "wait", quiet_wait_seconds: 300 } as CampaignPlan;
  expect(quietOf(plan)).toEqual({ policy: "wait", wait: "5 min" });
  expect(planQuiet(quietOf(plan))).toEqual({ quiet: "wait", quiet_wait_seconds: 300 });
});

it("sends a time that can be read also where none is asked for", () => {
  expect(planQuiet({ policy: "refuse", wait: "soon" })).toEqual({ quiet: "refuse", quiet_wait_seconds: 60 });
});

it.each(["soon", "0 s", "61 min"])("says why nobody can wait for %s", (wait) => {
  expect(quietProblem({ policy: "wait", wait })).not.toBeNull();
  expect(quietProblem({ policy: "flag", wait })).toBeNull();
});

it("flags by default", () => {
  expect(planQuiet(FLAGGED).quiet).toBe("flag");
  expect(quietProblem(FLAGGED)).toBeNull();
});
