/** A tar archive of small files. */

const BLOCK_BYTES = 512;
const CHECKSUM_AT = 148;

export interface ArchivedFile {
  /** ASCII, at most 100 characters. */
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
function headerOf(name: string, sizeBytes: number, changedAt: Date): Uint8Array {
  const seconds = Math.floor(changedAt.getTime() / 1000);
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
  ];
  const header = new Uint8Array(BLOCK_BYTES);
  for (const [at, text] of fields) header.set(bytesOf(text), at);
  const sum = header.reduce((total, byte) => total + byte, 0);
  header.set(bytesOf(`${octal(sum, 6)}\0 `), CHECKSUM_AT);
  return header;
}

function octal(number: number, digits: number): string {
  return number.toString(8).padStart(digits, "0");
}

function bytesOf(text: string): Uint8Array {
  return new TextEncoder().encode(text);
}
