import { expect, it } from "vitest";
import type { CampaignPlan } from "@/api/types";
import { FLAGGED, planQuiet, quietOf, quietProblem } from "./quiet";

it("keeps an earlier plan's policy", () => {
  const plan = { quiet: "wait", quiet_wait_seconds: 300 } as CampaignPlan;
  expect(quietOf(plan)).toEqual({ policy: "wait", wait: "5 min" });
  expect(planQuiet(quietOf(plan))).toEqual({ quiet: "wait", quiet_wait_seconds: 300 });
});

it("sends a valid time even if the policy needs none", () => {
  expect(planQuiet({ policy: "refuse", wait: "soon" })).toEqual({ quiet: "refuse", quiet_wait_seconds: 60 });
});

it.each(["soon", "0 s", "61 min"])("rejects the wait %s", (wait) => {
  expect(quietProblem({ policy: "wait", wait })).not.toBeNull();
  expect(quietProblem({ policy: "flag", wait })).toBeNull();
});

it("flags by default", () => {
  expect(planQuiet(FLAGGED).quiet).toBe("flag");
  expect(quietProblem(FLAGGED)).toBeNull();
});
