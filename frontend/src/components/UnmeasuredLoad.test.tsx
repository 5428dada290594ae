import { expect, it } from "vitest";
import { unmeasuredWords } from "./UnmeasuredLoad";

it("counts runs without measured load, and shows nothing without any", () => {
  expect(unmeasuredWords(609, { runs: 24, load_not_measured: 23 })).toBe("campaign 609: 23 of 24 runs");
  expect(unmeasuredWords(609, { runs: 24, load_not_measured: 0 })).toBeNull();
  expect(unmeasuredWords(609, undefined)).toBeNull();
});
