import { expect, it } from "vitest";
import type { SidesMetric, SideVerdict } from "@/api/types";
import type { Compared } from "../compared";
import { contrastsOf } from "./contrasts";
import { marksOf } from "./marks";
import { answerOf } from "./sentences";

const VERDICT = {
  ...{ reasons: [], words: "", runs_missing: 0, looks: 1, basis: "runs", basis_words: "", p_value: 0.01 },
  ...{ verdict: "higher", is_discovery: true, ratio: 4.8, low: 2.9, high: 8.4, median_ratio: 4.8 },
} as const satisfies SideVerdict;
const UNDECIDED = { ...VERDICT, verdict: "no_difference_shown", ratio: 1.1, low: 0.64, high: 2.87 } as const;
const FEW = {
  ...VERDICT,
  verdict: "few_runs",
  ratio: null,
  low: null,
  high: null,
  median_ratio: 1.3,
} as const;

interface Shape extends Partial<Omit<SidesMetric, "verdicts">> {
  readonly verdicts?: readonly SideVerdict[];
  readonly name?: string;
  readonly isAlike?: boolean;
}

/** A comparison with `disk` as the baseline, and a row for each shape. */
function compared(shapes: readonly Shape[], names = ["disk", "shm"]): Compared {
  const numbers = names.map(() => ({ n: 4, median: 1, values: [1], run_ids: [], flags: [], modes: null }));
  const rows = shapes.map(({ name = "dd", isAlike = true, verdicts = [VERDICT], ...metric }) => ({
    ...{ name, distinction: name === "dd" ? "" : name, isOfMany: false },
    ...{ workload: "dd", options: {}, differences: [] },
    cells: names.map((_, place) => ({ cell_id: place, is_alike: isAlike || place === 0 })),
    metrics: [
      {
        ...{ metric: "throughput", title: "Throughput", unit: "bytes_per_second", better: "higher" },
        ...{ labels: { operation: "write" }, is_primary: true, target_name: null, numbers, ...metric },
        verdicts: [null, ...verdicts],
      },
    ],
  }));
  return { names, against: 0, rows } as unknown as Compared;
}

function texts(shapes: readonly Shape[], names?: string[]): string[] {
  const { sentences } = answerOf(contrastsOf(compared(shapes, names)));
  return sentences.map(({ claim, detail }) => `${claim} ${detail}`);
}

it("says which side is faster, by how much, with the interval and the runs", () => {
  expect(texts([{ name: "File size 256 MiB" }])).toEqual([
    "shm is 4.8x as fast as disk for write, file size 256 MiB (2.9 to 8.4x; 4 runs each)",
  ]);
});

it("names the baseline first if it is faster, with the inverse interval", () => {
  const slower = { ...VERDICT, verdict: "lower", ratio: 0.8, low: 0.75, high: 0.9 } as const;
  expect(texts([{ verdicts: [slower] }])).toEqual([
    "disk is 25 % faster than shm for write (11 to 33 %; 4 runs each)",
  ]);
});

it("calls a shorter time lower, not faster", () => {
  const shorter = { ...VERDICT, verdict: "lower", ratio: 0.5, low: 0.4, high: 0.8 } as const;
  const latency = { metric: "latency", title: "Mean latency", unit: "seconds", better: "lower" } as const;
  expect(texts([{ ...latency, verdicts: [shorter] }])).toEqual([
    "shm: mean latency 50 % lower than disk for write (20 to 60 %; 4 runs each)",
  ]);
});

it("puts no difference after the differences, with the difference that is possible", () => {
  expect(texts([{ labels: { operation: "read" }, verdicts: [UNDECIDED] }, {}])).toEqual([
    "shm is 4.8x as fast as disk for write (2.9 to 8.4x; 4 runs each)",
    "No difference shown: shm and disk for read (could be −36 to 187 %; 4 runs each)",
  ]);
});

it("calls sides equal only where the server does", () => {
  const equal = { ...VERDICT, verdict: "equal", ratio: 1.01, low: 0.98, high: 1.03 } as const;
  expect(texts([{ verdicts: [equal] }])).toEqual(["Equal within 5 %: shm and disk for write (4 runs each)"]);
});

it("states values without a ratio after the verdicts, and asks for the missing repeats", () => {
  const answer = answerOf(contrastsOf(compared([{ verdicts: [{ ...FEW, runs_missing: 2 }] }, {}])));
  expect(answer.sentences.map(({ claim, repeats }) => [claim, repeats])).toEqual([
    ["shm is 4.8x as fast as disk", null],
    ["disk wrote at 1 B/s,", null],
    ["Too few runs to show differences (4 runs each).", 2],
  ]);
});

function withMedians(by: string, shapes: readonly (readonly number[])[], names: string[], better = "higher") {
  const rows = shapes.map((medians, size) => ({
    ...{ name: `File size ${size} MiB`, better, verdicts: names.slice(1).map(() => FEW) },
    numbers: medians.map((median) => ({ n: 1, median, values: [], run_ids: [], flags: [], modes: null })),
  }));
  const { sentences, leftOut } = answerOf(
    contrastsOf({ ...compared(rows as unknown as Shape[], names), by }),
  );
  return { texts: sentences.map(({ claim, detail }) => `${claim} ${detail}`), leftOut };
}

it("orders values of single runs by size, the best side and the best line first", () => {
  const { texts } = withMedians(
    "target",
    [
      [2e6, 3e6, 1e6],
      [5e6, 4e6, 3e6],
    ],
    ["disk", "shm", "nfs"],
  );
  expect(texts).toEqual([
    "disk wrote at 5 MB/s, shm at 4 MB/s, nfs at 3 MB/s (file size 1 MiB)",
    "shm wrote at 3 MB/s, disk at 2 MB/s, nfs at 1 MB/s (file size 0 MiB)",
    "One run a configuration: differences are unknown. A verdict needs runs on more days.",
  ]);
});

it("names values of an option after their number, and counts the lines beyond four", () => {
  const pairs = [
    [1e6, 2e6],
    [3e6, 1e6],
    [1e6, 1e6],
    [1e6, 1e6],
    [1e6, 1e6],
  ];
  const { texts, leftOut } = withMedians("options.flush", pairs, ["none", "fsync"]);
  expect(texts[0]).toBe("write, file size 1 MiB: 3 MB/s (none), 1 MB/s (fsync)");
  expect([texts.length, leftOut]).toEqual([5, 1]);
});

it("states the best value of each operation before a second one of any", () => {
  const read = { labels: { operation: "read" }, name: "small", verdicts: [FEW] };
  const { sentences } = answerOf(
    contrastsOf(compared([{ name: "small", verdicts: [FEW] }, { name: "large", verdicts: [FEW] }, read])),
  );
  expect(sentences.slice(0, 3).map(({ claim, detail }) => `${claim} ${detail}`)).toEqual([
    "disk wrote at 1 B/s, shm at 1 B/s (small)",
    "disk read at 1 B/s, shm at 1 B/s (small)",
    "disk wrote at 1 B/s, shm at 1 B/s (large)",
  ]);
});

it("puts the shortest time first", () => {
  const { texts } = withMedians("options.flush", [[3e6, 1e6]], ["none", "fsync"], "lower");
  expect(texts[0]).toBe("write, file size 0 MiB: 1 MB/s (fsync), 3 MB/s (none)");
});

it("joins differences of the same direction beyond four sentences", () => {
  const rows = [4.8, 1.46, 2, 3, 2.5].map((ratio, size) => ({
    ...{ name: `File size ${size} MiB`, verdicts: [{ ...VERDICT, ratio }] },
  }));
  expect(texts(rows)).toEqual([
    "shm is 1.5 to 4.8x as fast as disk for write, file size 0 MiB; write, file size 3 MiB; write, file size 4 MiB and 2 more (4 runs each)",
  ]);
});

it("never shows more than four sentences, and counts the others", () => {
  const names = ["disk", "a", "b", "c", "d", "e", "f"];
  const verdicts = names.slice(1).map(() => VERDICT);
  const answer = answerOf(contrastsOf(compared([{ verdicts }], names)));
  expect([answer.sentences.length, answer.leftOut]).toEqual([4, 2]);
});

it("judges only primary metrics, without single writers if there is a total", () => {
  const total = compared([{}]);
  const [row] = total.rows;
  const [metric] = row?.metrics ?? [];
  const writer = { ...metric, labels: { operation: "write", writer: "1" } };
  const secondary = { ...metric, metric: "user_seconds", is_primary: false };
  const rows = [{ ...row, metrics: [writer, metric, secondary] }] as unknown as Compared["rows"];
  expect(contrastsOf({ ...total, rows }).map(({ what }) => what)).toEqual(["write"]);
});

it("gives no verdict for different setups, and draws no ratio of them", () => {
  const contrasts = contrastsOf(compared([{ isAlike: false }]));
  expect(answerOf(contrasts).sentences.map(({ claim, detail }) => [claim, detail])).toEqual([
    ["disk wrote at 1 B/s,", "shm at 1 B/s"],
    ["No verdict:", "the setups differ"],
  ]);
  expect(marksOf(contrasts).marks).toEqual([]);
});

it("draws a factor of several with its whole interval", () => {
  const { reach } = marksOf(contrastsOf(compared([{}])));
  expect(reach).toBeGreaterThan(8.4);
});

it("draws the largest difference first, and ratios without an interval as faint", () => {
  const contrasts = contrastsOf(compared([{ verdicts: [FEW] }, { verdicts: [UNDECIDED] }, {}]));
  const { marks } = marksOf(contrasts);
  expect(marks.map(({ words, isFaint }) => [words, isFaint])).toEqual([
    ["4.80x (2.90 to 8.40)", false],
    ["1.10x (0.640 to 2.87)", false],
    ["1.30x, no interval", true],
  ]);
});
