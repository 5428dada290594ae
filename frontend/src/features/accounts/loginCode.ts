const ALPHABET = "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567";
const CODE_BYTES = 5;
const BITS = 5;

/** Code that `iotide login` shows for this SHA-256: its beginning in base 32. */
export function loginCode(sha256: string): string {
  const bits = [...sha256.slice(0, 2 * CODE_BYTES)]
    .map((digit) => Number.parseInt(digit, 16).toString(2).padStart(4, "0"))
    .join("");
  const letters = Array.from({ length: bits.length / BITS }, (_, index) =>
    ALPHABET.charAt(Number.parseInt(bits.slice(index * BITS, (index + 1) * BITS), 2)),
  ).join("");
  return `${letters.slice(0, 4)}-${letters.slice(4)}`;
}
