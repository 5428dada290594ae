/** YAML writer for plans: maps, lists and scalars only. */

const PLAIN = /^[A-Za-z][A-Za-z0-9 ._/+-]*$/;
const WORDS_WITH_MEANING = /^(true|false|yes|no|on|off|null|y|n)$/i;

export function toYaml(value: unknown): string {
  return `${lines(value).join("\n")}\n`;
}

function lines(value: unknown): string[] {
  if (Array.isArray(value) && value.length > 0) return value.flatMap(listItem);
  if (isMap(value)) return Object.entries(value).flatMap(([name, item]) => mapEntry(name, item));
  return [scalar(value)];
}

function listItem(item: unknown): string[] {
  return lines(item).map((line, index) => (index === 0 ? `- ${line}` : `  ${line}`));
}

function mapEntry(name: string, item: unknown): string[] {
  const isBlock = isMap(item) || (Array.isArray(item) && item.some((part) => typeof part === "object"));
  if (isBlock) return [`${scalar(name)}:`, ...lines(item).map((line) => `  ${line}`)];
  if (Array.isArray(item)) return [`${scalar(name)}: [${item.map(scalar).join(", ")}]`];
  return [`${scalar(name)}: ${scalar(item)}`];
}

function isMap(value: unknown): value is Record<string, unknown> {
  return (
    typeof value === "object" && value !== null && !Array.isArray(value) && Object.keys(value).length > 0
  );
}

/** JSON is valid YAML, so everything except plain words is quoted as JSON. */
function scalar(value: unknown): string {
  const isPlain = typeof value === "string" && PLAIN.test(value) && !value.endsWith(" ");
  return isPlain && !WORDS_WITH_MEANING.test(value) ? value : JSON.stringify(value);
}
