/** What an export menu writes: a table in base units and UTC as CSV or JSON, and the request that gives it. */

export type ExportCell = string | number | boolean | null;

export interface ExportTable {
  /** With the base unit where a column has one: `Median [bytes_per_second]`. */
  readonly columns: readonly string[];
  readonly rows: readonly (readonly ExportCell[])[];
}

/** A row by column name. */
export type ExportRecord = Readonly<Record<string, ExportCell>>;

/** Rows that may lack columns of others. A column that is new in a row follows the one before it in that row. */
export function recordTable(records: readonly ExportRecord[]): ExportTable {
  const columns: string[] = [];
  for (const record of records) {
    let place = 0;
    for (const name of Object.keys(record)) {
      const known = columns.indexOf(name);
      if (known < 0) columns.splice(place, 0, name);
      place = (known < 0 ? place : known) + 1;
    }
  }
  return { columns, rows: records.map((record) => columns.map((name) => record[name] ?? null)) };
}

/** One column for each option or label: `option_block_size_bytes`. */
export function spread(
  prefix: "option_" | "label_",
  values: Readonly<Record<string, unknown>>,
): ExportRecord {
  return Object.fromEntries(
    Object.entries(values).map(([name, value]) => [`${prefix}${name}`, plainCell(value)]),
  );
}

/** Numbers, truths and texts as they are; the items of a list separated by spaces. */
export function plainCell(value: unknown): ExportCell {
  if (value === undefined || value === null) return null;
  if (Array.isArray(value)) return value.map((item) => String(plainCell(item) ?? "")).join(" ");
  const isPlain = typeof value === "string" || typeof value === "number" || typeof value === "boolean";
  return isPlain ? value : JSON.stringify(value);
}

/** Lines as RFC 4180 has them; null is an empty field. */
export function toCsv({ columns, rows }: ExportTable): string {
  return [columns, ...rows].map((row) => `${row.map(csvField).join(",")}\r\n`).join("");
}

function csvField(cell: ExportCell): string {
  const text = cell === null ? "" : typeof cell === "string" ? asText(cell) : String(cell);
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}

/** A text that no spreadsheet takes for a formula; see https://owasp.org/www-community/attacks/CSV_Injection. */
function asText(cell: string): string {
  return /^[=+\-@\t\r]/.test(cell) ? `'${cell}` : cell;
}

/** A list of objects by column name. */
export function toJson({ columns, rows }: ExportTable): string {
  const records = rows.map((row) =>
    Object.fromEntries(columns.map((name, place) => [name, row[place] ?? null])),
  );
  return `${JSON.stringify(records, null, 2)}\n`;
}

/** `Points of the trend` becomes `points-of-the-trend`, which every file system takes. */
export function fileName(name: string): string {
  const plain = name
    .normalize("NFKD")
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, "-")
    .replace(/^-+|-+$/g, "");
  return plain.slice(0, 80) || "iotide";
}

/** The address of the same numbers as a file of another kind. */
export function withFormat(path: string, format: "csv" | "parquet"): string {
  return `${path}${path.includes("?") ? "&" : "?"}format=${format}`;
}

/** A command for a shell; the token comes from the environment and is not written down. */
export function asCurl(origin: string, path: string): string {
  const address = `${origin}${path}`.replaceAll("'", "%27");
  return `curl --fail-with-body -H "Authorization: Bearer $IOTIDE_TOKEN" '${address}'`;
}
