import { renderWithApp } from "@testing/render";
import { screen } from "@testing-library/react";
import { expect, it, vi } from "vitest";
import { PaletteList } from "./CommandPalette";
import type { Command } from "./commands";

function command(label: string): Command {
  return { id: label, label, group: "Page", run: vi.fn() };
}

function renderPalette() {
  const commands = [command("Overview"), command("Campaigns"), command("Settings")];
  const onClose = vi.fn();
  const onRun = vi.fn();
  const list = <PaletteList commands={commands} onClose={onClose} onRun={onRun} />;
  return { ...renderWithApp(list), commands, onClose, onRun };
}

it("runs the first match on Enter and closes", async () => {
  const { user, commands, onClose } = renderPalette();
  await user.type(screen.getByRole("textbox", { name: "Command" }), "camp{Enter}");
  expect(commands[1]?.run).toHaveBeenCalledOnce();
  expect(onClose).toHaveBeenCalledOnce();
});

it("moves through the matches with the arrow keys", async () => {
  const { user, commands } = renderPalette();
  await user.type(screen.getByRole("textbox", { name: "Command" }), "{ArrowDown}{ArrowDown}{Enter}");
  expect(commands[2]?.run).toHaveBeenCalledOnce();
});

it("reports that nothing matches", async () => {
  const { user } = renderPalette();
  await user.type(screen.getByRole("textbox", { name: "Command" }), "xyz");
  expect(screen.getByText("No matches.")).toBeInTheDocument();
  expect(screen.queryByRole("option")).not.toBeInTheDocument();
});

it("opens a run by its number", async () => {
  const { user, onRun } = renderPalette();
  await user.type(screen.getByRole("textbox", { name: "Command" }), "run 71{Enter}");
  expect(onRun).toHaveBeenCalledWith(71);
});
