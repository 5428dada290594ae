/** Mantine's theme with colours replaced that miss WCAG AA; theme.test.ts checks every pair in use. */

import {
  type CSSVariablesResolver,
  createTheme,
  DEFAULT_THEME,
  type MantineColorsTuple,
} from "@mantine/core";

const tide: MantineColorsTuple = [
  "#eaf7fa",
  "#d3edf3",
  "#a3dae6",
  "#6fc5d7",
  "#45b2c9",
  "#2aa3bd",
  "#178ba6",
  "#107e97",
  "#0b7289",
  "#054d5e",
];

/** One of Mantine's palettes with other shades 8 (filled) and 9 (text on light). */
function deepened(palette: MantineColorsTuple | undefined, filled: string, text: string): MantineColorsTuple {
  const [a = "", b = "", c = "", d = "", e = "", f = "", g = "", h = ""] = palette ?? [];
  return [a, b, c, d, e, f, g, h, filled, text];
}

/** Distance of menus from the edges of the window; the header is at the top. */
const MENU_ROOM = { top: 64, right: 8, bottom: 8, left: 8 };

const { red, orange, green } = DEFAULT_THEME.colors;

export const theme = createTheme({
  primaryColor: "tide",
  primaryShade: 8,
  colors: {
    tide,
    red: deepened(red, "#c92a2a", "#a61e1e"),
    orange: deepened(orange, "#b8450a", "#853103"),
    green: deepened(green, "#2b7d38", "#1c5a27"),
  },
  fontFamily: "system-ui, -apple-system, 'Segoe UI', Roboto, 'Noto Sans', 'DejaVu Sans', sans-serif",
  fontFamilyMonospace: "ui-monospace, 'SF Mono', Menlo, 'DejaVu Sans Mono', monospace",
  headings: { fontWeight: "650" },
  defaultRadius: "md",
  cursorType: "pointer",
  respectReducedMotion: true,
  components: {
    Alert: { defaultProps: { variant: "light" } },
    Badge: { defaultProps: { tt: "none", variant: "light" } },
    // A long menu scrolls itself: scrolling with the page would move it away with its button. It opens on the side
    // with more room, never over the header.
    Menu: {
      defaultProps: {
        middlewares: {
          flip: { fallbackStrategy: "bestFit", padding: MENU_ROOM },
          size: { padding: MENU_ROOM },
        },
      },
      styles: { dropdown: { overflowY: "auto" } },
    },
  },
});

export const cssVariables: CSSVariablesResolver = () => ({
  variables: {},
  light: {
    "--mantine-color-dimmed": "#5a626a",
    "--mantine-color-placeholder": "#666e76",
    "--mantine-color-error": "#b42020",
    "--mantine-color-disabled-color": "#666e76",
    "--iotide-ground": "#f6f8f9",
    "--iotide-shadow": "rgba(0, 0, 0, 0.22)",
  },
  dark: {
    "--mantine-color-dimmed": "#adb5bd",
    "--mantine-color-placeholder": "#9aa2aa",
    "--mantine-color-error": "#ff8f8f",
    "--mantine-color-disabled-color": "#9aa2aa",
    "--iotide-ground": "#1a1b1d",
    "--iotide-shadow": "rgba(0, 0, 0, 0.65)",
  },
});
