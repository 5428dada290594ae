/** Components whose code can be loaded before they appear. */

import { type ComponentType, lazy, useState } from "react";

interface Preloadable<Props> {
  readonly View: ComponentType<Props>;
  /** Ignores errors: the view shows them. */
  readonly preload: () => void;
}

/**
 * A lazy component that appears at once if it is loaded.
 *
 * React's `lazy` shows its fallback even then, for at least 300 ms.
 */
export function preloadable<Props extends object>(
  load: () => Promise<{ default: ComponentType<Props> }>,
): Preloadable<Props> {
  let loaded: ComponentType<Props> | undefined;
  async function loadOnce() {
    const module = await load();
    loaded = module.default;
    return module;
  }
  const Lazy = lazy<ComponentType<Props>>(loadOnce);
  // biome-ignore lint/correctness/noComponentHookFactories: called once for each module, not while rendering
  function View(props: Props) {
    // Chosen once: another type would be another component, with a new state.
    const [Chosen] = useState<ComponentType<Props>>(() => loaded ?? (Lazy as ComponentType<Props>));
    return <Chosen {...props} />;
  }
  return { View, preload: () => void loadOnce().catch(() => undefined) };
}
