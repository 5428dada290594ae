/** Titles of flags; exports have their codes. */

import { flagTitles } from "./flagWords";

export function FlagTitles({ codes }: { codes: readonly string[] }) {
  return <span data-export={JSON.stringify({ value: codes.join(" ") })}>{flagTitles(codes)}</span>;
}
