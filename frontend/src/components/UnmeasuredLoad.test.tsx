import { expect, it } from "vitest";
import { unmeasuredWords } from "./UnmeasuredLoad";

it("counts the runs of a campaign whose other load nobody measured, and is silent where there is none", () => {
  expect(unmeasuredWords(609, { runs: 24, load_not_measured: 23 })).toBe("campaign 609: 23 of 24 runs");
  expect(unmeasuredWords(609, { runs: 24, load_not_measured: 0 })).toBeNull();
  expect(unmeasuredWords(609, undefined)).toBeNull();
});
