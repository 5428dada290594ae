/** A tar archive of small files. */

const BLOCK_BYTES = 512;
const CHECKSUM_AT = 148;

const LONGEST_NAME = 100;
const LONGEST_DIRECTORY = 155;

export interface ArchivedFile {
  /** ASCII, relative; a directory of at most 155 characters and a file of at most 100. */
  readonly name: string;
  readonly content: Uint8Array;
}

export function tarOf(files: readonly ArchivedFile[], changedAt: Date): Uint8Array<ArrayBuffer> {
  const parts = files.flatMap(({ name, content }) => [
    headerOf(name, content.length, changedAt),
    padded(content),
  ]);
  // Two empty blocks end an archive.
  const sizes = parts.map(({ length }) => length);
  const archive = new Uint8Array(sizes.reduce((sum, size) => sum + size, 2 * BLOCK_BYTES));
  let place = 0;
  for (const part of parts) {
    archive.set(part, place);
    place += part.length;
  }
  return archive;
}

function padded(content: Uint8Array): Uint8Array {
  const whole = new Uint8Array(Math.ceil(content.length / BLOCK_BYTES) * BLOCK_BYTES);
  whole.set(content);
  return whole;
}

/** Fields of the ustar format: its place in the header and its text. */
function headerOf(path: string, sizeBytes: number, changedAt: Date): Uint8Array {
  const seconds = Math.floor(changedAt.getTime() / 1000);
  const [directory, name] = inParts(path);
  const fields: readonly [number, string][] = [
    [0, name],
    [100, "0000644\0"],
    [108, "0000000\0"],
    [116, "0000000\0"],
    [124, `${octal(sizeBytes, 11)}\0`],
    [136, `${octal(seconds, 11)}\0`],
    [CHECKSUM_AT, "        "],
    [156, "0"],
    [257, "ustar\u000000"],
    [345, directory],
  ];
  const header = new Uint8Array(BLOCK_BYTES);
  for (const [at, text] of fields) header.set(bytesOf(text), at);
  const sum = header.reduce((total, byte) => total + byte, 0);
  header.set(bytesOf(`${octal(sum, 6)}\0 `), CHECKSUM_AT);
  return header;
}

/** Names that fields cannot hold, or that lead out of the archive's directory, are bugs of the caller. */
function inParts(path: string): readonly [directory: string, name: string] {
  const end = path.lastIndexOf("/");
  const [directory, name] = [path.slice(0, Math.max(end, 0)), path.slice(end + 1)];
  const isShort = name.length <= LONGEST_NAME && directory.length <= LONGEST_DIRECTORY;
  const isInside = path.split("/").every((part) => !["", ".", ".."].includes(part));
  if (!isShort || !isInside || !/^[\x20-\x7e]+$/.test(path)) throw new RangeError(`no name for tar: ${path}`);
  return path.length <= LONGEST_NAME ? ["", path] : [directory, name];
}

function octal(number: number, digits: number): string {
  return number.toString(8).padStart(digits, "0");
}

function bytesOf(text: string): Uint8Array {
  return new TextEncoder().encode(text);
}
