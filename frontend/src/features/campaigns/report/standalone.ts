/** A report as one file that needs nothing else: pictures and style are in it, and its links lead to the server. */

import { t } from "@lingui/core/macro";

export function standaloneHtml(sheet: HTMLElement, title: string): string {
  const copy = sheet.cloneNode(true) as HTMLElement;
  for (const link of copy.querySelectorAll("a"))
    link.href = new URL(link.getAttribute("href") ?? "", location.href).href;
  const name = document.createElement("title");
  name.textContent = title;
  const head = t`<meta charset="utf-8"><meta name="viewport" content="width=device-width">${name.outerHTML}`;
  return t`<!doctype html>\n<html lang="en"><head>${head}</head><body>${copy.outerHTML}</body></html>\n`;
}
