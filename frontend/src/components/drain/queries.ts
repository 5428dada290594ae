import { type MutationFunctionContext, mutationOptions, queryOptions } from "@tanstack/react-query";
import { get, put, refetch, remove } from "@/api/requests";
import type { DrainInput } from "@/api/types";

export interface DrainSubject {
  readonly kind: "node" | "target" | "cluster" | "all";
  /** 0 for all. */
  readonly id: number;
}

/** Drains that the user may see, everything first. The change feed reports a drain of everything as a cluster's. */
export const drainsQuery = queryOptions({
  queryKey: ["cluster", "list", "drains"],
  queryFn: ({ signal }) => get("/api/v1/drains", { signal }),
});

export const drainSubject = mutationOptions({
  meta: { isShownInPlace: true },
  mutationFn: ({ subject: { kind, id }, wanted: body }: { subject: DrainSubject; wanted: DrainInput }) => {
    switch (kind) {
      case "node":
        return put("/api/v1/nodes/{node_id}/drain", { path: { node_id: id }, body });
      case "target":
        return put("/api/v1/targets/{target_id}/drain", { path: { target_id: id }, body });
      case "cluster":
        return put("/api/v1/clusters/{cluster_id}/drain", { path: { cluster_id: id }, body });
      case "all":
        return put("/api/v1/drain", { body });
    }
  },
  onSuccess: (_drain, { subject }, _result, context) => refetchSubject(subject, context),
});

export const resumeSubject = mutationOptions({
  mutationFn: ({ kind, id }: DrainSubject) => {
    switch (kind) {
      case "node":
        return remove("/api/v1/nodes/{node_id}/drain", { path: { node_id: id } });
      case "target":
        return remove("/api/v1/targets/{target_id}/drain", { path: { target_id: id } });
      case "cluster":
        return remove("/api/v1/clusters/{cluster_id}/drain", { path: { cluster_id: id } });
      case "all":
        return remove("/api/v1/drain");
    }
  },
  onSuccess: (_done, subject, _result, context) => refetchSubject(subject, context),
});

/** Runs are refetched too, since they show why they wait. */
function refetchSubject({ kind }: DrainSubject, context: MutationFunctionContext): Promise<unknown> {
  return refetch([kind === "all" ? "cluster" : kind], ["run"])(context);
}
