import { t } from "@lingui/core/macro";
import type { SideVerdict } from "@/api/types";

/**
 * Conditions of a verdict: the error that its interval uses, unless that is the scatter of the runs, and the number of
 * its looks.
 */
export function conditionsOf({
  basis,
  basis_words,
  looks,
}: Pick<SideVerdict, "basis" | "basis_words" | "looks">): string[] {
  return [
    basis === "runs" ? "" : basis_words,
    looks > 1 ? t`look ${looks}, after repeats were added: limits are stricter` : "",
  ].filter(Boolean);
}
