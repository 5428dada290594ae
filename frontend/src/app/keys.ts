/** What keys do on every page: the table of shortcuts, and which of them two keys mean. */

import { t } from "@lingui/core/macro";
import { PLACES } from "./places";

type Place = (typeof PLACES)[number];

/** By the key that follows g. */
export const PLACES_BY_KEY: ReadonlyMap<string, Place> = new Map(
  PLACES.flatMap((place) => (place.key === null ? [] : [[place.key, place] as const])),
);

export type Deed =
  | { readonly kind: "go"; readonly to: Place["to"] }
  | { readonly kind: "row"; readonly step: 1 | -1 }
  | { readonly kind: "help" | "palette" | "new" };

/** The first key of a pair waits so long for the second one. */
export const PAIR_MILLISECONDS = 1500;

const SINGLE: Readonly<Record<string, Deed>> = {
  "?": { kind: "help" },
  "/": { kind: "palette" },
  n: { kind: "new" },
  j: { kind: "row", step: 1 },
  k: { kind: "row", step: -1 },
};

/** What a key means after `before`, the key pressed just before it, if any. */
export function deedOf(key: string, before: string | undefined): Deed | undefined {
  if (before !== "g") return Object.hasOwn(SINGLE, key) ? SINGLE[key] : undefined;
  const place = PLACES_BY_KEY.get(key);
  return place && { kind: "go", to: place.to };
}

/** Keys belong to whoever is typed into, and to an open dialog or menu. */
export function isTaken(target: EventTarget | null): boolean {
  if (!(target instanceof HTMLElement)) return false;
  if (target.isContentEditable || target.matches(t`input, textarea, select`)) return true;
  return target.closest('[role="dialog"], [role="menu"], [role="listbox"]') !== null;
}

/** Moves to the next or the previous row that has something to open, in the table that the reader is in, else the first. */
export function moveRow(root: ParentNode, active: Element | null, step: 1 | -1): void {
  const current = active?.closest("tbody tr") ?? null;
  const rows = [...(current?.parentElement ?? root).querySelectorAll<HTMLElement>("tr")].flatMap((row) => {
    const open = row.matches("tbody tr") ? row.querySelector<HTMLElement>("a[href], button") : null;
    return open ? [{ row, open }] : [];
  });
  const place = rows.findIndex(({ row }) => row === current);
  const next = place === -1 ? rows[0] : rows[place + step];
  next?.open.focus();
  next?.row.scrollIntoView({ block: "nearest" });
}
