/** Display preferences, stored in this browser. */

export const RATE_UNITS = ["decimal", "binary", "bits"] as const;
export type RateUnits = (typeof RATE_UNITS)[number];

export interface Preferences {
  readonly rates: RateUnits;
  /** IANA time zone; null: the zone of this computer. */
  readonly zone: string | null;
}

const KEY = "iotide-display";
const USUAL: Preferences = { rates: "decimal", zone: null };
const listeners = new Set<() => void>();
let current = read();

export function preferences(): Preferences {
  return current;
}

export function setPreferences(change: Partial<Preferences>): void {
  current = { ...current, ...change };
  try {
    localStorage.setItem(KEY, JSON.stringify(current));
  } catch {
    // Without browser storage, preferences last until the page closes.
  }
  for (const listener of listeners) listener();
}

/** Calls `listener` on every change, also in other tabs. Returns the unsubscribe function. */
export function onPreferences(listener: () => void): () => void {
  listeners.add(listener);
  addEventListener("storage", readAgain);
  return () => {
    listeners.delete(listener);
    if (listeners.size === 0) removeEventListener("storage", readAgain);
  };
}

function readAgain(event: StorageEvent): void {
  if (event.key !== KEY) return;
  current = read();
  for (const listener of listeners) listener();
}

/** Stored preferences; invalid values are ignored. */
function read(): Preferences {
  try {
    const kept: unknown = JSON.parse(localStorage.getItem(KEY) ?? "{}");
    const { rates, zone } = kept as Record<string, unknown>;
    return {
      rates: RATE_UNITS.find((known) => known === rates) ?? USUAL.rates,
      zone: typeof zone === "string" && isZone(zone) ? zone : USUAL.zone,
    };
  } catch {
    return USUAL;
  }
}

function isZone(name: string): boolean {
  try {
    new Intl.DateTimeFormat("en-GB", { timeZone: name });
    return true;
  } catch {
    return false;
  }
}
