import { describe, expect, it } from "vitest";
import type { CampaignPlan } from "@/api/types";
import { countProblem, planRepeating, repeatingOf, repeatingProblem, TOGETHER } from "./repeating";

const ADAPTIVE = { ...TOGETHER, mode: "adaptive", untilPercent: 7, budget: "6 h" } as const;
const SPREAD = { ...TOGETHER, mode: "spread", spread: "3 days" } as const;

describe("planRepeating", () => {
  it("writes only the fields of the chosen mode", () => {
    expect(planRepeating(TOGETHER)).toEqual({ adaptive: null, spread_seconds: null });
    expect(planRepeating(SPREAD)).toEqual({ adaptive: null, spread_seconds: 259_200 });
    const { adaptive, spread_seconds } = planRepeating(ADAPTIVE);
    expect(adaptive?.until_ratio).toBeCloseTo(0.07, 12);
    expect([adaptive?.seconds, spread_seconds]).toEqual([21_600, null]);
  });

  it("is read again from the plan", () => {
    for (const draft of [TOGETHER, { ...SPREAD, spread: "3 d" }, ADAPTIVE, { ...ADAPTIVE, budget: "" }])
      expect(repeatingOf(planRepeating(draft) as CampaignPlan)).toEqual(draft);
  });
});

describe("problems", () => {
  it("names an unreadable time, and accepts no budget", () => {
    expect(repeatingProblem({ ...SPREAD, spread: "0 s" })).toBe("Enter more than 0 s and at most 90 d.");
    expect(repeatingProblem({ ...ADAPTIVE, budget: "soon" })).toContain("is not a duration");
    expect(repeatingProblem({ ...ADAPTIVE, budget: " " })).toBeNull();
    expect(repeatingProblem({ ...TOGETHER, spread: "soon" })).toBeNull();
  });

  it("holds the number of repeats to the mode", () => {
    expect(countProblem(SPREAD, 1)).toBe("Spread at least two repeats.");
    expect([countProblem(ADAPTIVE, 7), countProblem(ADAPTIVE, 41)]).toEqual(
      Array(2).fill("Enter a maximum of 8 to 40 repeats."),
    );
    expect([countProblem(ADAPTIVE, 40), countProblem(SPREAD, 2), countProblem(TOGETHER, 1)]).toEqual(
      Array(3).fill(null),
    );
    expect(countProblem({ ...ADAPTIVE, untilPercent: "" }, 40)).toBe(
      "Enter the wanted width of the interval.",
    );
  });
});
