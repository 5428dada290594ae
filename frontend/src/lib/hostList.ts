/** Host lists as administrators write them, such as `node[001-128],login[1-2]`, matched against known names. */

const PART = /(?:[^,[\]]|\[[^[\]]*\])+/g;
const PIECE = /\[([^[\]]*)\]|([^[\]]+)/g;
const RANGE = /^(\d{1,9})(?:-(\d{1,9})(?:\/(\d{1,9}))?)?$/;

type Matcher = (name: string) => boolean;

/** Returns a function that checks if a host list has a name; null if the text is no list with ranges or commas. */
export function hostMatcher(text: string): Matcher | null {
  if (!/[[\],]/.test(text)) return null;
  const parts = (text.match(PART) ?? []).map((part) => part.trim()).filter(Boolean);
  const matchers = parts.map(partMatcher);
  return (name) => matchers.some((matches) => matches(name));
}

function partMatcher(part: string): Matcher {
  const ranges: string[] = [];
  const pattern = [...part.matchAll(PIECE)].map(([, numbers, plain = ""]) => {
    if (numbers === undefined) return plain.replaceAll(/[.*+?^${}()|\\/-]/g, "\\$&");
    ranges.push(numbers);
    return "(\\d+)";
  });
  const whole = new RegExp(`^${pattern.join("")}$`);
  return (name) => {
    const [, ...numbers] = whole.exec(name) ?? [];
    return (
      numbers.length === ranges.length &&
      whole.test(name) &&
      ranges.every((range, at) => has(range, numbers[at] ?? ""))
    );
  };
}

function has(ranges: string, digits: string): boolean {
  return ranges.split(",").some((range) => {
    const [, first = "", last = first, step = "1"] = RANGE.exec(range.trim()) ?? [];
    const value = Number(digits);
    const width = first.startsWith("0") ? first.length : 1;
    const isWritten = first !== "" && digits === String(value).padStart(width, "0");
    return (
      isWritten &&
      value >= Number(first) &&
      value <= Number(last) &&
      (value - Number(first)) % Number(step) === 0
    );
  });
}
