/** Saves files from the browser. Names become file names. */

import { type ExportTable, fileName, toCsv } from "@/lib/exported";

export function saveCsv(name: string, table: ExportTable): void {
  saveText(name, "csv", "text/csv", toCsv(table));
}

export function saveText(name: string, ending: string, type: string, text: string): void {
  saveBlob(name, ending, new Blob([text], { type: `${type};charset=utf-8` }));
}

export function saveBlob(name: string, ending: string, blob: Blob): void {
  const address = URL.createObjectURL(blob);
  saveLink(address, `${fileName(name)}.${ending}`);
  URL.revokeObjectURL(address);
}

export function saveLink(address: string, name: string): void {
  const link = document.createElement("a");
  link.href = address;
  link.download = name;
  link.click();
}
