/** Quotes arguments for a POSIX shell. */

const NEEDS_NO_QUOTES = /^[A-Za-z0-9_@%+=:,./-]+$/;

export function shellCommand(argv: readonly string[]): string {
  return argv
    .map((word) => (NEEDS_NO_QUOTES.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`))
    .join(" ");
}
