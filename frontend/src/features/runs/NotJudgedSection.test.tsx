import { renderWithApp } from "@testing/render";
import { screen } from "@testing-library/react";
import { expect, it } from "vitest";
import type { RunDetail } from "@/api/types";
import { NotJudgedSection } from "./NotJudgedSection";
import { validityWords } from "./RunPage";

const short = { check: "steadiness", title: "steadiness", because: "12 s, 25 needed", phase: "write" };

function runWith(not_judged: unknown, more: object = {}): RunDetail {
  return { state: "finished", validity: "valid", flags: [], not_judged, ...more } as unknown as RunDetail;
}

it("names each check without an answer once, with what was missing in which step", () => {
  renderWithApp(
    <NotJudgedSection run={runWith([short, { ...short, phase: "read", because: "9 s, 25 needed" }])} />,
  );
  expect(screen.getAllByText("steadiness")).toHaveLength(1);
  expect(screen.getByText("write: 12 s, 25 needed; read: 9 s, 25 needed")).toBeVisible();
});

it("says that an older agent does not report it, rather than nothing", () => {
  renderWithApp(<NotJudgedSection run={runWith(null)} />);
  expect(screen.getByText(/does not report which checks/)).toBeVisible();
});

it("is left out of a run that waits, and where every check had an answer", () => {
  renderWithApp(<NotJudgedSection run={runWith([], { state: "waiting" })} />);
  renderWithApp(<NotJudgedSection run={runWith([])} />);
  expect(screen.queryByText("Not judged")).not.toBeInTheDocument();
});

it("calls a run with a caution kept with cautions, and one without any valid, also where a flag is none", () => {
  const marked = [{ code: "DURATION", effect: "marked" }];
  expect(validityWords(runWith([]))).toBe("valid");
  expect(validityWords(runWith([], { flags: [{ code: "OUTLIER", effect: "marked" }] }))).toBe("valid");
  expect(validityWords(runWith([], { flags: marked }))).toBe("kept, with cautions");
  expect(validityWords(runWith([], { flags: marked, validity: "rejected" }))).toBe("rejected");
});
