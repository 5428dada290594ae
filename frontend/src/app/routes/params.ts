/** Parameters of addresses. An unreadable one counts as missing. */

import { notFound } from "@tanstack/react-router";
import * as z from "zod/mini";
import { STATES } from "@/api/states";

export const stateParam = z.enum(STATES);
export const idParam = z.coerce.number().check(z.int(), z.positive());

/** Return an id of the path, or answer "not found". */
export function idIn(text: string): number {
  const id = idParam.safeParse(text);
  if (!id.success) throw notFound();
  return id.data;
}

export const optional = <Schema extends z.core.$ZodType>(schema: Schema) =>
  z.catch(z.optional(schema), undefined);

export const text = optional(z.string());

export const figureParam = z.object({
  workload: text,
  show: text,
  beside: text,
  kind: optional(z.enum(["points", "map", "ratio", "parts", "scaling"])),
  x: text,
  split: text,
  against: text,
  only: optional(z.record(z.string(), z.string())),
});
