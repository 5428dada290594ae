/** Requests of the audit. */

import { infiniteQueryOptions, keepPreviousData } from "@tanstack/react-query";
import { itemsOf, pages } from "@/api/requests";
import { type AuditView, asked } from "./audit";

const PAGE_SIZE = 100;

export function auditQuery(view: AuditView) {
  const query = asked(view);
  return infiniteQueryOptions({
    queryKey: ["audit", "list", query],
    ...pages("/api/v1/audit", PAGE_SIZE, { query }),
    select: itemsOf,
    placeholderData: keepPreviousData,
    refetchOnWindowFocus: false,
  });
}
