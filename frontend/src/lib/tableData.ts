/** Reads an HTML table as data for exports. */

import type { ExportCell, ExportRecord, ExportTable } from "./exported";

/** `<data>` elements; `data-export` holds several columns as JSON. */
const MACHINE = "[data-export], data[value], time[datetime]";
const WITH_UNIT: ReadonlySet<string> = new Set(["value", "low", "high"]);

interface Cell {
  /** Text outside the data elements. */
  readonly text: string;
  /** Values by column suffix; `unit` is the base unit of value, low and high. */
  readonly parts: ExportRecord;
}

const EMPTY: Cell = { text: "", parts: {} };

/** Visible rows with exact values instead of rounded text, without button columns. */
export function tableData(table: HTMLTableElement): ExportTable {
  const titles = [...table.querySelectorAll("thead th")].map((title) =>
    title.hasAttribute("data-actions") ? "" : textOf(title, true),
  );
  const rows = [...table.querySelectorAll("tbody tr")].map(cellsOf);
  const columns = titles.flatMap((title, place) =>
    title === ""
      ? []
      : columnsOf(
          title,
          rows.map((row) => row[place] ?? EMPTY),
        ),
  );
  return {
    columns: columns.map(({ name }) => name),
    rows: rows.map((_, row) => columns.map(({ cells }) => cells[row] ?? null)),
  };
}

interface Column {
  readonly name: string;
  readonly cells: readonly ExportCell[];
}

/** One column for text, if any, and one per named part. Mixed units get their own column. */
function columnsOf(title: string, cells: readonly Cell[]): Column[] {
  const names = [...new Set(cells.flatMap(({ parts }) => Object.keys(parts)))].filter(
    (name) => name !== "unit" && (name === "value" || cells.some(({ parts }) => !isEmpty(parts[name]))),
  );
  const units = new Set(cells.flatMap(({ parts: { unit } }) => (unit ? [unit] : [])));
  const [unit] = units;
  const hasText = names.length === 0 || cells.some(({ text }) => text !== "");
  const base = units.size === 1 ? ` [${unit}]` : "";
  const columns = names.map((name) => ({
    name: `${columnName(title, name, hasText)}${hasUnit(name) ? base : ""}`,
    cells: cells.map(({ parts }) => parts[name] ?? null),
  }));
  const texts = cells.map(({ text }) => text || null);
  return [
    ...(hasText ? [{ name: title, cells: integers(texts) }] : []),
    ...columns,
    ...(units.size > 1
      ? [{ name: `${title} unit`, cells: cells.map(({ parts }) => parts.unit ?? null) }]
      : []),
  ];
}

/** Options and labels have the same column names in all exports. */
function columnName(title: string, name: string, hasText: boolean): string {
  if (/^(option|label)_/.test(name)) return name;
  return name === "value" && !hasText ? title : `${title} ${name}`;
}

function hasUnit(name: string): boolean {
  return WITH_UNIT.has(name.replace(/ \d+$/, ""));
}

function isEmpty(cell: ExportCell | undefined): boolean {
  return cell === undefined || cell === null || cell === "";
}

/** Counts and ids are plain text on pages; a column of only numbers is exported as numbers. */
function integers(cells: readonly (string | null)[]): ExportCell[] {
  const isCounted = cells.every((cell) => cell === null || /^(0|[1-9]\d{0,14})$/.test(cell));
  return cells.map((cell) => (isCounted && cell !== null ? Number(cell) : cell));
}

/** A cell that spans columns is in the first one. */
function cellsOf(row: Element): Cell[] {
  return [...row.children].flatMap((cell) => {
    const more = Number(cell.getAttribute("colspan") ?? 1) - 1;
    return [readCell(cell), ...Array.from({ length: more }, () => EMPTY)];
  });
}

/** Ignores button texts unless the cell has nothing else. */
function readCell(cell: Element): Cell {
  const parts: Record<string, ExportCell> = {};
  for (const element of cell.querySelectorAll(MACHINE)) {
    if (element.parentElement?.closest("[data-export]")) continue;
    for (const [name, value] of Object.entries(partsOf(element))) parts[freeName(name, parts)] = value;
  }
  const text = textOf(cell, false);
  const isBare = text === "" && Object.keys(parts).length === 0;
  return { text: isBare ? textOf(cell, true) : text, parts };
}

/** Additional data of a cell is numbered; the first sets the unit. */
function freeName(name: string, parts: ExportRecord): string {
  if (!(name in parts) || name === "unit") return name;
  let number = 2;
  while (`${name} ${number}` in parts) number += 1;
  return `${name} ${number}`;
}

function partsOf(element: Element): ExportRecord {
  const columns = element.getAttribute("data-export");
  if (columns !== null) return JSON.parse(columns) as ExportRecord;
  const at = element.getAttribute("datetime");
  if (at !== null) return { value: at };
  return { value: Number(element.getAttribute("value")), unit: element.getAttribute("data-unit") };
}

/** Separates texts of adjacent elements; skips decoration and data elements. */
function textOf(element: Element, withButtons: boolean): string {
  const words: string[] = [];
  for (const child of element.childNodes) {
    if (child.nodeType === 3) words.push(child.textContent ?? "");
    else if (child.nodeType === 1 && isRead(child as Element, withButtons))
      words.push(` ${textOf(child as Element, withButtons)} `);
  }
  return words.join("").replace(/\s+/g, " ").trim();
}

function isRead(element: Element, withButtons: boolean): boolean {
  if (element.getAttribute("aria-hidden") === "true" || element.matches(MACHINE)) return false;
  return withButtons || element.tagName !== "BUTTON";
}
