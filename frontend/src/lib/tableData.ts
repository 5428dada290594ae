/** Reads a table of the page as data: what a cell shows for a person, it holds for a program too (data, time). */

import type { ExportCell, ExportTable } from "./exported";

interface Cell {
  readonly value: ExportCell;
  readonly unit: string;
}

/** The rows as they are shown, stored values in place of rounded ones; columns of buttons are left out. */
export function tableData(table: HTMLTableElement): ExportTable {
  const titles = [...table.querySelectorAll("thead th")].map((title) =>
    title.hasAttribute("data-actions") ? "" : textOf(title),
  );
  const rows = [...table.querySelectorAll("tbody tr")].map(cellsOf);
  const columns = titles.flatMap((title, place) =>
    title === ""
      ? []
      : columnsOf(
          title,
          rows.map((row) => row[place]),
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

/** Where the cells have several units, these are a column of their own. */
function columnsOf(title: string, cells: readonly (Cell | undefined)[]): Column[] {
  const units = new Set(cells.flatMap((cell) => (cell?.unit ? [cell.unit] : [])));
  const values = cells.map((cell) => cell?.value ?? null);
  const [unit] = units;
  if (unit === undefined) return [{ name: title, cells: values }];
  if (units.size === 1) return [{ name: `${title} [${unit}]`, cells: values }];
  return [
    { name: title, cells: values },
    { name: `${title} unit`, cells: cells.map((cell) => cell?.unit || null) },
  ];
}

/** A cell that spans several columns stands in the first of them. */
function cellsOf(row: Element): (Cell | undefined)[] {
  return [...row.children].flatMap((cell) => {
    const more = Number(cell.getAttribute("colspan") ?? 1) - 1;
    return [readCell(cell), ...Array.from({ length: more }, () => undefined)];
  });
}

function readCell(cell: Element): Cell {
  const text = textOf(cell);
  const [only, second] = cell.querySelectorAll("data[value], time[datetime]");
  if (only && !second && textOf(only) === text) return machineCell(only);
  return { value: text === "" ? null : text, unit: "" };
}

function machineCell(element: Element): Cell {
  const at = element.getAttribute("datetime");
  if (at !== null) return { value: at, unit: "" };
  return { value: Number(element.getAttribute("value")), unit: element.getAttribute("data-unit") ?? "" };
}

/** Words of neighbouring elements stay apart; decoration is left out. */
function textOf(element: Element): string {
  const words: string[] = [];
  for (const child of element.childNodes) {
    if (child.nodeType === 3) words.push(child.textContent ?? "");
    else if (child.nodeType === 1 && !isHidden(child as Element)) words.push(` ${textOf(child as Element)} `);
  }
  return words.join("").replace(/\s+/g, " ").trim();
}

function isHidden(element: Element): boolean {
  return element.getAttribute("aria-hidden") === "true";
}
