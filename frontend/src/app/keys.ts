/** What keys do on every page: the table of shortcuts, and which of them two keys mean. */

import { t } from "@lingui/core/macro";

export const PLACES_BY_KEY = {
  o: { to: "/", label: t`Overview` },
  c: { to: "/campaigns", label: t`Campaigns` },
  s: { to: "/schedules", label: t`Schedules` },
  t: { to: "/trends", label: t`Trends` },
  h: { to: "/changes", label: t`Changes` },
  a: { to: "/alerts", label: t`Alerts` },
  v: { to: "/compare", label: t`Compare` },
  p: { to: "/peers", label: t`Peers` },
  u: { to: "/published", label: t`Published` },
  e: { to: "/settings", label: t`Settings` },
} as const;

type Place = (typeof PLACES_BY_KEY)[keyof typeof PLACES_BY_KEY]["to"];

export type Deed =
  | { readonly kind: "go"; readonly to: Place }
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
  const place = Object.hasOwn(PLACES_BY_KEY, key)
    ? PLACES_BY_KEY[key as keyof typeof PLACES_BY_KEY]
    : undefined;
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
