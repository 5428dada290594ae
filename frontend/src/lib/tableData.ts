/** Reads a table of the page as data: what a cell shows for a person, it holds for a program too. */

import type { ExportCell, ExportRecord, ExportTable } from "./exported";

/** Elements that hold the data of what they show: `data-export` names several columns as JSON. */
const MACHINE = "[data-export], data[value], time[datetime]";
const WITH_UNIT: ReadonlySet<string> = new Set(["value", "low", "high"]);

interface Cell {
  /** What stands in it besides its data. */
  readonly text: string;
  /** By the ending of the column's name; `unit` is the base unit of value, low and high. */
  readonly parts: ExportRecord;
}

const EMPTY: Cell = { text: "", parts: {} };

/** The rows that are shown, as data in place of what is rounded; columns of buttons are left out. */
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

/** One column for the text, where there is any, and one for each named part; several units are a column of their own. */
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

/** Options and labels have the same name in every export. */
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

/** Counts and ids are plain text on the page; a column that holds nothing else holds numbers. */
function integers(cells: readonly (string | null)[]): ExportCell[] {
  const isCounted = cells.every((cell) => cell === null || /^(0|[1-9]\d{0,14})$/.test(cell));
  return cells.map((cell) => (isCounted && cell !== null ? Number(cell) : cell));
}

/** A cell that spans several columns stands in the first of them. */
function cellsOf(row: Element): Cell[] {
  return [...row.children].flatMap((cell) => {
    const more = Number(cell.getAttribute("colspan") ?? 1) - 1;
    return [readCell(cell), ...Array.from({ length: more }, () => EMPTY)];
  });
}

/** What buttons say is no data, unless the cell has nothing else. */
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

/** Further data of a cell is numbered; its unit is that of the first. */
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

/** Words of neighbouring elements stay apart; decoration and what is data are left out. */
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
