import { useComputedColorScheme } from "@mantine/core";
import { useSyncExternalStore } from "react";
import { onPreferences, type Preferences, preferences } from "@/lib/preferences";

export function usePreferences(): Preferences {
  return useSyncExternalStore(onPreferences, preferences);
}

/** Return the active colour scheme, for figures, which CSS variables do not reach. */
export function useScheme(): "light" | "dark" {
  return useComputedColorScheme("light", { getInitialValueInEffect: false });
}
