import { renderWithApp } from "@testing/render";
import { fireEvent, screen } from "@testing-library/react";
import { expect, it } from "vitest";
import type { RunDetail } from "@/api/types";
import { NotJudgedSection } from "./NotJudgedSection";
import { validityWords } from "./RunPage";

const short = { check: "steadiness", title: "steadiness", because: "12 s, 25 needed", phase: "write" };

function runWith(not_judged: unknown, more: object = {}): RunDetail {
  return { state: "finished", validity: "valid", flags: [], not_judged, ...more } as unknown as RunDetail;
}

it("lists each check without a result once, with steps and reasons", () => {
  renderWithApp(
    <NotJudgedSection run={runWith([short, { ...short, phase: "read", because: "9 s, 25 needed" }])} />,
  );
  expect(screen.getByText("steadiness")).toBeVisible();
  fireEvent.click(screen.getByRole("button", { name: "Checks not evaluated" }));
  expect(screen.getAllByRole("term")).toHaveLength(1);
  expect(screen.getByText("write: 12 s, 25 needed; read: 9 s, 25 needed")).toBeVisible();
});

it("states that an older agent does not report it", () => {
  renderWithApp(<NotJudgedSection run={runWith(null)} />);
  fireEvent.click(screen.getByRole("button", { name: "Checks not evaluated" }));
  expect(screen.getByText(/does not report which checks/)).toBeVisible();
});

it("is left out of a waiting run, and if every check had a result", () => {
  renderWithApp(<NotJudgedSection run={runWith([], { state: "waiting" })} />);
  renderWithApp(<NotJudgedSection run={runWith([])} />);
  expect(screen.queryByText("Checks not evaluated")).not.toBeInTheDocument();
});

it("distinguishes valid runs from those kept with cautions, and ignores flags that are no caution", () => {
  const marked = [{ code: "CACHE_DROP", effect: "marked" }];
  expect(validityWords(runWith([]))).toBe("valid");
  expect(validityWords(runWith([], { flags: [{ code: "DURATION", effect: "marked" }] }))).toBe("valid");
  expect(validityWords(runWith([], { flags: marked }))).toBe("kept, with cautions");
  expect(validityWords(runWith([], { flags: marked, validity: "rejected" }))).toBe("rejected");
});
