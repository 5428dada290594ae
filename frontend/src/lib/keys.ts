/** Idempotency keys of requests. */

/** 128 random bits; crypto.randomUUID is missing on pages loaded over plain HTTP. */
export function randomKey(): string {
  return [...crypto.getRandomValues(new Uint8Array(16))]
    .map((byte) => byte.toString(16).padStart(2, "0"))
    .join("");
}
