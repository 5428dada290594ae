/** Exported tables as CSV or JSON, in base units and UTC. */

export type ExportCell = string | number | boolean | null;

export interface ExportTable {
  /** Includes the base unit, if any: `Median [bytes_per_second]`. */
  readonly columns: readonly string[];
  readonly rows: readonly (readonly ExportCell[])[];
}

export type ExportRecord = Readonly<Record<string, ExportCell>>;

/** Builds a table from rows with different columns. A new column is inserted after its predecessor in that row. */
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

/** One column per option or label: `option_block_size_bytes`. */
export function spread(
  prefix: "option_" | "label_",
  values: Readonly<Record<string, unknown>>,
): ExportRecord {
  return Object.fromEntries(
    Object.entries(values).map(([name, value]) => [`${prefix}${name}`, plainCell(value)]),
  );
}

/** Keeps numbers, booleans and texts; joins list items with spaces. */
export function plainCell(value: unknown): ExportCell {
  if (value === undefined || value === null) return null;
  if (Array.isArray(value)) return value.map((item) => String(plainCell(item) ?? "")).join(" ");
  const isPlain = typeof value === "string" || typeof value === "number" || typeof value === "boolean";
  return isPlain ? value : JSON.stringify(value);
}

/** CSV according to RFC 4180; null is an empty field. */
export function toCsv({ columns, rows }: ExportTable): string {
  return [columns, ...rows].map((row) => `${row.map(csvField).join(",")}\r\n`).join("");
}

function csvField(cell: ExportCell): string {
  const text = cell === null ? "" : typeof cell === "string" ? asText(cell) : String(cell);
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}

/** Prevents formula injection in spreadsheets; see https://owasp.org/www-community/attacks/CSV_Injection. */
function asText(cell: string): string {
  return /^[=+\-@\t\r]/.test(cell) ? `'${cell}` : cell;
}

export function toJson({ columns, rows }: ExportTable): string {
  const records = rows.map((row) =>
    Object.fromEntries(columns.map((name, place) => [name, row[place] ?? null])),
  );
  return `${JSON.stringify(records, null, 2)}\n`;
}

/** `Points of the trend` becomes `points-of-the-trend`, which is valid on every file system. */
export function fileName(name: string): string {
  const plain = name
    .normalize("NFKD")
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, "-")
    .replace(/^-+|-+$/g, "");
  return plain.slice(0, 80) || "iotide";
}

/** Address of the same data in another format. */
export function withFormat(path: string, format: "csv" | "parquet"): string {
  return `${path}${path.includes("?") ? "&" : "?"}format=${format}`;
}

/** Shell command; the token comes from the environment, so that it is not stored. */
export function asCurl(origin: string, path: string): string {
  const address = `${origin}${path}`.replaceAll("'", "%27");
  return `curl --fail-with-body -H "Authorization: Bearer $IOTIDE_TOKEN" '${address}'`;
}
