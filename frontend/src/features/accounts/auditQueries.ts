/** Requests of the audit. */

import { infiniteQueryOptions, keepPreviousData } from "@tanstack/react-query";
import { answer, api } from "@/api/client";
import { type AuditView, asked } from "./audit";

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
