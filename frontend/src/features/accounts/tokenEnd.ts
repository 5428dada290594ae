const SOON_MILLISECONDS = 14 * 86_400_000;

/** Expiry of a token. `soon` is within two weeks. */
export function tokenEnd(expiresAt: string | null, now: number): "expired" | "soon" | "later" | "never" {
  if (expiresAt === null) return "never";
  const left = Date.parse(expiresAt) - now;
  if (left <= 0) return "expired";
  return left <= SOON_MILLISECONDS ? "soon" : "later";
}
