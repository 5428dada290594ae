import { t } from "@lingui/core/macro";
import { PLACES, type Place } from "./places";

export const PLACES_BY_KEY: ReadonlyMap<string, Place> = new Map(PLACES.map((place) => [place.key, place]));

export type Action =
  | { readonly kind: "go"; readonly to: Place["to"] }
  | { readonly kind: "row"; readonly step: 1 | -1 }
  | { readonly kind: "help" | "palette" | "new" };

/** Time in which the second key of a pair must follow. */
export const PAIR_MILLISECONDS = 1500;

const SINGLE: Readonly<Record<string, Action>> = {
  "?": { kind: "help" },
  "/": { kind: "palette" },
  n: { kind: "new" },
  j: { kind: "row", step: 1 },
  k: { kind: "row", step: -1 },
};

/** Return the action of a key; `before` is the key pressed just before it. */
export function actionOf(key: string, before: string | undefined): Action | undefined {
  if (before !== "g") return Object.hasOwn(SINGLE, key) ? SINGLE[key] : undefined;
  const place = PLACES_BY_KEY.get(key);
  return place && { kind: "go", to: place.to };
}

/** Return whether an input, an open dialog or a menu handles the keys. */
export function isTaken(target: EventTarget | null): boolean {
  if (!(target instanceof HTMLElement)) return false;
  if (target.isContentEditable || target.matches(t`input, textarea, select`)) return true;
  return target.closest('[role="dialog"], [role="menu"], [role="listbox"]') !== null;
}

/** Focus the next or previous row that can be opened, in the table with the focus or else the first table. */
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
