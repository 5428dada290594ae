import { DEFAULT_THEME, defaultCssVariablesResolver, mergeMantineTheme } from "@mantine/core";
import { expect, it } from "vitest";
import { cssVariables, theme } from "./theme";

const merged = mergeMantineTheme(DEFAULT_THEME, theme);

/** Resolve a variable and its references to #rrggbb. */
function colour(scheme: "light" | "dark", name: string): string {
  const usual = defaultCssVariablesResolver(merged);
  const own = cssVariables(merged);
  const all: Record<string, string> = { ...usual.variables, ...usual[scheme], ...own[scheme] };
  const value = all[name] ?? name;
  const reference = /^var\((--[^)]+)\)$/.exec(value)?.[1];
  return reference ? colour(scheme, reference) : value;
}

function luminance(text: string): number {
  const short = /^#(.)(.)(.)$/.exec(text);
  const hex = short ? `#${short[1]}${short[1]}${short[2]}${short[2]}${short[3]}${short[3]}` : text;
  const parts =
    /rgba?\(([^)]+)\)/.exec(hex)?.[1]?.split(",") ??
    hex.match(/[0-9a-f]{2}/gi)?.map((p) => `${Number.parseInt(p, 16)}`);
  const [red = 0, green = 0, blue = 0] = (parts ?? []).map(Number).map((part) => {
    const channel = part / 255;
    return channel <= 0.04045 ? channel / 12.92 : ((channel + 0.055) / 1.055) ** 2.4;
  });
  return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
}

function contrast(first: string, second: string): number {
  const [low = 0, high = 0] = [luminance(first), luminance(second)].sort((a, b) => a - b);
  return (high + 0.05) / (low + 0.05);
}

const plain = ["text", "dimmed", "placeholder", "error", "anchor"].flatMap((name) =>
  (["body", "default"] as const).map((ground) => [`--mantine-color-${name}`, `--mantine-color-${ground}`]),
);
const badges = ["tide", "gray", "red", "orange", "green"].map((name) => [
  `--mantine-color-${name}-light-color`,
  `--mantine-color-${name}-light`,
]);
const filled = ["tide", "red"].map((name) => ["#ffffff", `--mantine-color-${name}-filled`]);

it.each(["light", "dark"] as const)(
  "every text in the %s scheme has a contrast of at least 4.5",
  (scheme) => {
    const poor = [...plain, ...badges, ...filled]
      .map(([text = "", ground = ""]) => ({
        text,
        ground,
        ratio: contrast(colour(scheme, text), colour(scheme, ground)),
      }))
      .filter(({ ratio }) => ratio < 4.5);
    expect(poor).toEqual([]);
  },
);
