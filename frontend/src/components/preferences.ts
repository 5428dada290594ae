/** The reader's preferences and colour scheme as React follows them. */

import { useComputedColorScheme } from "@mantine/core";
import { useSyncExternalStore } from "react";
import { onPreferences, type Preferences, preferences } from "@/lib/preferences";

/** The reader's preferences as React follows them. */
export function usePreferences(): Preferences {
  return useSyncExternalStore(onPreferences, preferences);
}

/** The colour scheme in force, for what CSS variables do not reach: figures. */
export function useScheme(): "light" | "dark" {
  return useComputedColorScheme("light", { getInitialValueInEffect: false });
}
