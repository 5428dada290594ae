import { expect, it } from "vitest";
import { localTime } from "@/lib/time";
import { changeNotes, noteText } from "./trendNotes";

const RANGE = [localTime("2026-01-01T00:00:00Z"), localTime("2026-12-31T00:00:00Z")] as const;
const options = { range: RANGE, scheme: "light" } as const;

function drop(at: string, cause: string | null = null) {
  return { at, before: 100, after: 82, cause };
}

it("says the size and the cause of a change, the range of several, and no size of a recovery", () => {
  expect(noteText([drop("2026-08-11T00:00:00Z", "kernel updated")])).toBe("−18.0 %, kernel updated");
  expect(noteText([drop("2026-08-11T00:00:00Z"), { at: "", before: 100, after: 75 }])).toBe(
    "−25.0 % to −18.0 %",
  );
  expect(noteText([{ at: "", before: 82, after: 100, isRecovery: true }])).toBe("recovered");
});

it("gives changes at the same time one label, and puts labels that would overlap in rows", () => {
  const line = (changes: ReturnType<typeof drop>[]) => ({ changes, colour: "#111111" });
  const same = changeNotes(
    [line([drop("2026-06-01T00:00:00Z")]), line([drop("2026-06-02T00:00:00Z")])],
    options,
  );
  expect(same.annotations).toHaveLength(1);
  const near = changeNotes(
    [line([drop("2026-06-01T00:00:00Z", "one"), drop("2026-06-20T00:00:00Z", "two")])],
    options,
  );
  expect(near.rows).toBe(2);
  expect(new Set(near.annotations.map(({ yshift }) => yshift)).size).toBe(2);
});

it("turns a label at the right edge to the left, and leaves out changes outside the range", () => {
  const line = {
    changes: [drop("2025-06-01T00:00:00Z"), drop("2026-12-28T00:00:00Z", "cause")],
    colour: "#111111",
  };
  const { annotations } = changeNotes([line], options);
  expect(annotations).toEqual([expect.objectContaining({ xanchor: "right", text: "−18.0 %, cause" })]);
});

it("shortens labels on a small screen, and leaves out those without room, the oldest first", () => {
  const cause = "a long text about what was done to the storage and why it was done";
  const days = [5, 10, 15, 20, 25, 30].map((day) =>
    drop(`2026-06-${String(day).padStart(2, "0")}T00:00:00Z`, cause),
  );
  const { annotations, rows } = changeNotes([{ changes: days, colour: "#111111" }], {
    ...options,
    isNarrow: true,
  });
  expect(rows).toBe(3);
  expect(annotations.length).toBeLessThan(6);
  expect(annotations[0]?.x).toBe(localTime("2026-06-30T00:00:00Z"));
  for (const { text = "" } of annotations) expect(text.length).toBeLessThanOrEqual(28);
});

it("never lets a label leave the chart, also on a small screen", () => {
  const line = {
    changes: [drop("2026-06-20T00:00:00Z", "OST0007 and OST0013 taken out")],
    colour: "#111111",
  };
  const [note] = changeNotes([line], { ...options, isNarrow: true }).annotations;
  expect(note?.xanchor).toBe("left");
  expect(note?.text?.length).toBeLessThan(24);
});
