/** The reader's preferences as React follows them. */

import { useSyncExternalStore } from "react";
import { onPreferences, type Preferences, preferences } from "@/lib/preferences";

export function usePreferences(): Preferences {
  return useSyncExternalStore(onPreferences, preferences);
}
