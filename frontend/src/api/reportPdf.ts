/** Reports as PDF by the server, with the display preferences of this browser. */

import { preferences } from "@/lib/preferences";

type Query = Readonly<Record<string, string | number | readonly number[] | undefined>>;

/** Return the address of a report's PDF. Lists repeat their parameter. */
export function reportPdf(path: string, query: Query = {}): string {
  const { zone, rates } = preferences();
  const shown = { ...query, zone: zone ?? Intl.DateTimeFormat().resolvedOptions().timeZone, rates };
  const pairs = Object.entries(shown).flatMap(([name, value]) =>
    [value ?? []].flat().map((one) => [name, String(one)]),
  );
  return `/api/v1/${path}/report.pdf?${new URLSearchParams(pairs)}`;
}

/** Return the PDF; throws if the server does not print, for example without Chromium. */
export async function fetchPdf(url: string): Promise<Blob> {
  const response = await fetch(url);
  if (!response.ok) throw new Error(`status ${response.status}`);
  return response.blob();
}
