/** An argument list as a line that a POSIX shell reads back as the same arguments. */

const NEEDS_NO_QUOTES = /^[A-Za-z0-9_@%+=:,./-]+$/;

export function shellCommand(argv: readonly string[]): string {
  return argv
    .map((word) => (NEEDS_NO_QUOTES.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`))
    .join(" ");
}
