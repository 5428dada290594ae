import { expect, it } from "vitest";
import { rankIn, readList } from "./io500List";

const SITE = [
  "information__list_name,information__institution,information__system,io500__score,io500__bw,io500__md",
  'ISC24,"Lab, North",Alpha,100.0,50.0,200.0',
  "ISC24,Lab South,Beta,10.5,5.25,21",
  "ISC24,Lab West,Gamma,,,",
].join("\n");

it("reads a list of the IO500, with values in base units, and leaves out rows without a score", () => {
  const { systems, skipped } = readList("list.csv", SITE);
  expect(systems).toEqual([
    { name: "Alpha, Lab, North", score: 100, bandwidth: 50 * 1024 ** 3, metadata: 200_000 },
    { name: "Beta, Lab South", score: 10.5, bandwidth: 5.25 * 1024 ** 3, metadata: 21_000 },
  ]);
  expect(skipped).toBe(1);
});

it.each([
  ["other names of columns", "System,Score,BW (GiB/s),MD (kIOP/s)\nAlpha,100,50,200\n"],
  ["one underscore", "information_system,io500_score,io500_bw,io500_md\nAlpha,100,50,200\n"],
  ["semicolons and a byte order mark", "\uFEFFSystem;Score;BW;MD\r\nAlpha;100;50;200\r\n"],
  ["quotes and thousands", 'System,Score,BW,MD\n"Alpha","100.0",50,"200.0"\n'],
  ["spaces before values", 'System, Score, BW, MD\n"Alpha", "100.0", 50, "200.0"\n'],
])("reads a list with %s", (_, text) => {
  expect(readList("list.csv", text).systems).toEqual([
    { name: "Alpha", score: 100, bandwidth: 50 * 1024 ** 3, metadata: 200_000 },
  ]);
});

it("takes a quote in the middle of a value as part of it", () => {
  const text = 'System,Score,BW,MD\nRack 19" A,100,50,200\n"Rack ""B""",10,5,20\n';
  expect(readList("list.csv", text).systems.map(({ name }) => name)).toEqual(['Rack 19" A', 'Rack "B"']);
});

it("shows only the start of a long text in its message", () => {
  expect(() => readList("a.csv", "x".repeat(1e6))).toThrow(`Its columns: ${"x".repeat(40)} …. Choose`);
  expect(() => readList("a.csv", "(".repeat(1e6))).toThrow("Its columns: none.");
  const text = `System,Score,BW,MD\nA,"${"9".repeat(1e6)}x",1,1\n`;
  expect(() => readList("a.csv", text)).toThrow(`SCORE is “${"9".repeat(40)} …”`);
});

it("reads thousands", () => {
  expect(readList("a.csv", 'System,Score,BW,MD\nA,"1,234.5",1,"12,345,678"\n').systems[0]).toMatchObject({
    score: 1234.5,
    metadata: 12_345_678_000,
  });
});

it.each([
  ["", "a.csv has no column SCORE, BW, MD. Its columns: none. Choose a list of io500.org as CSV."],
  ["name,score\nx,1\n", "a.csv has no column BW, MD. Its columns: name, score."],
  ["System,Score,BW,MD\n", "a.csv has no system with a score."],
  ["System,Score,io500_score,BW,MD\nA,1,2,1,1\n", "a.csv has two columns SCORE. Remove one of them."],
  ["System,Score,BW,MD\n\nA,fast,1,1\n", "a.csv line 3: SCORE is “fast”, which is not a number."],
  ['System,Score,BW,MD\n"A\nB",1,1\n', "a.csv line 2: the line ends before its MD."],
  ["PK\u0003\u0004\0", "a.csv is not a text file."],
])("refuses a file that is no list, and says where and why: %j", (text, message) => {
  expect(() => readList("a.csv", text)).toThrow(message);
});

it("ranks a value, with the systems next to it; equal values share the better rank", () => {
  const list = readList("list.csv", SITE);
  expect(rankIn(list, "score", 50)).toMatchObject({
    rank: 2,
    of: 2,
    above: { score: 100 },
    below: { score: 10.5 },
  });
  expect(rankIn(list, "bandwidth", 50 * 1024 ** 3)).toMatchObject({ rank: 1, above: undefined });
  expect(rankIn(list, "metadata", 1)).toMatchObject({ rank: 3, below: undefined });
});
