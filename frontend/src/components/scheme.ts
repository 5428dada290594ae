/** The colour scheme in force, for what CSS variables do not reach: figures. */

import { useComputedColorScheme } from "@mantine/core";

export function useScheme(): "light" | "dark" {
  return useComputedColorScheme("light", { getInitialValueInEffect: false });
}
