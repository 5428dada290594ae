/** How the reader of this browser wants to see numbers and times; the one place that remembers it. */

export const RATE_UNITS = ["decimal", "binary", "bits"] as const;
export type RateUnits = (typeof RATE_UNITS)[number];

export interface Preferences {
  /** Rates in MB/s, MiB/s or Mbit/s. */
  readonly rates: RateUnits;
  /** The IANA name of the zone whose clock is shown; null: that of this computer. */
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
    // A browser that stores nothing forgets them with the page.
  }
  for (const tell of listeners) tell();
}

/** Tells of every change, those of other tabs too, until the returned function is called. */
export function onPreferences(tell: () => void): () => void {
  listeners.add(tell);
  addEventListener("storage", readAgain);
  return () => {
    listeners.delete(tell);
    if (listeners.size === 0) removeEventListener("storage", readAgain);
  };
}

function readAgain(event: StorageEvent): void {
  if (event.key !== KEY) return;
  current = read();
  for (const tell of listeners) tell();
}

/** What was kept, as far as it still means something. */
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
