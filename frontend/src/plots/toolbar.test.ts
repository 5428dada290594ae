import { afterEach, expect, it, vi } from "vitest";
import { baseLayout } from "./figure";
import { toolbarConfig, toolbarLayout } from "./toolbar";

afterEach(() => vi.unstubAllGlobals());

function onTouch(): void {
  vi.stubGlobal("matchMedia", (query: string) => ({ matches: query === "(hover: none)" }));
}

it("shows a toolbar without a background on hover, but none in small multiples", () => {
  expect(toolbarConfig(false).displayModeBar).toBe("hover");
  expect(toolbarConfig(true).displayModeBar).toBe(false);
  const figure = { data: [], layout: baseLayout("dark") };
  expect(toolbarLayout(figure).modebar?.bgcolor).toBe("rgba(0,0,0,0)");
});

it("has no toolbar on touch screens, where a drag scrolls the page", () => {
  onTouch();
  expect(toolbarConfig(false).displayModeBar).toBe(false);
  expect(toolbarLayout({ data: [], layout: baseLayout("light") }).dragmode).toBe(false);
});
