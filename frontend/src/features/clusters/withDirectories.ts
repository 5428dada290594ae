const NEEDS_NO_QUOTES = /^[\w./+:@%-]+$/;

/** Append paths, separated by spaces, as words of a shell command. */
export function withDirectories(command: string, paths: string): string {
  const words = paths.trim().split(/\s+/);
  return [command, ...words.map(quoted)].join(" ");
}

function quoted(word: string): string {
  return NEEDS_NO_QUOTES.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`;
}
