/** An option or fact in readable units. Exports have the exact value in base units. */

import { plainCell } from "@/lib/exported";
import { optionValue } from "@/lib/options";

export function OptionValue({ name, value }: { name: string; value: unknown }) {
  const columns = { value: plainCell(value), unit: typeof value === "number" ? unitOf(name) : null };
  return <span data-export={JSON.stringify(columns)}>{optionValue(name, value)}</span>;
}

function unitOf(name: string): string | null {
  return /_(bytes_per_second|bytes|seconds)$/.exec(name)?.[1] ?? null;
}
