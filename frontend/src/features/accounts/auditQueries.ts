/** Requests of the audit, and the address of all that a search of it finds as a file. */

import { infiniteQueryOptions, keepPreviousData } from "@tanstack/react-query";
import { answer, api } from "@/api/client";
import type { AuditView } from "./audit";

const PAGE_SIZE = 100;

export function auditQuery(view: AuditView) {
  const wanted = asked(view);
  return infiniteQueryOptions({
    queryKey: ["audit", "list", wanted],
    queryFn: ({ pageParam, signal }) => {
      const query = { ...wanted, limit: PAGE_SIZE, cursor: pageParam };
      return answer(api.GET("/api/v1/audit", { params: { query }, signal }));
    },
    initialPageParam: null as string | null,
    getNextPageParam: (page) => page.next_cursor,
    select: ({ pages }) => pages.flatMap(({ items }) => items),
    placeholderData: keepPreviousData,
    refetchOnWindowFocus: false,
  });
}

/** The query of the API for what the page's address asks; a day is one of UTC, as the API's days are. */
export function asked({ actor, action, kind, id, cluster, address, from, to, text }: AuditView) {
  const given = {
    actor,
    action,
    subject_kind: kind,
    subject_id: id,
    cluster_id: cluster,
    address,
    from: from && `${from}T00:00:00Z`,
    to: to && `${to}T23:59:59.999999Z`,
    text,
  };
  return Object.fromEntries(Object.entries(given).filter(([, value]) => value !== undefined && value !== ""));
}

/** The request behind the list. */
export function listAddress(view: AuditView): string {
  return `/api/v1/audit?${parameters(view)}`;
}

export function exportAddress(view: AuditView, format: "csv" | "jsonl"): string {
  return `/api/v1/audit/export?${parameters(view, { format })}`;
}

function parameters(view: AuditView, more: Record<string, string> = {}): string {
  const wanted = Object.entries(asked(view)).map(([name, value]) => [name, String(value)]);
  return new URLSearchParams([...wanted, ...Object.entries(more)]).toString();
}
