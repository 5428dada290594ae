import { expect, it } from "vitest";
import { type Command, matchCommands, rankCommands } from "./commands";

function command(label: string, group: Command["group"] = "Page"): Command {
  return { id: label, label, group, run: () => undefined };
}
const commands = [
  command("Overview"),
  command("Campaigns"),
  command("New campaign", "Action"),
  command("nightly nfs", "Campaign"),
];
const labels = (typed: string) => matchCommands(commands, typed).map(({ label }) => label);

it("offers all commands for an empty text", () => {
  expect(labels("  ")).toHaveLength(4);
});

it("finds all typed words in any order, in the label or the group", () => {
  expect(labels("nfs campaign")).toEqual(["nightly nfs"]);
});

it("lists commands that begin with the typed text first", () => {
  expect(labels("camp")).toEqual(["Campaigns", "New campaign", "nightly nfs"]);
  expect(labels("new")).toEqual(["New campaign"]);
});

it("returns nothing without a match", () => {
  expect(labels("xyz")).toEqual([]);
});

it("puts what is named exactly like the text first, and other names after the pages", () => {
  const found = [command("runs-nightly", "Campaign"), command("Runs", "Node")];
  const ranked = rankCommands([command("Runs of today")], found, " runs ");
  expect(ranked.map(({ label }) => label)).toEqual(["Runs", "Runs of today", "runs-nightly"]);
});
