/** Requests of targets: the file systems and directories under test. */

import { mutationOptions, queryOptions } from "@tanstack/react-query";
import { answer, api } from "@/api/client";
import { everyItem } from "@/api/pages";
import type { TargetInput } from "@/api/types";

/** Every target of a cluster that is not retired. */
export function targetsQuery(clusterId: number) {
  return queryOptions({
    queryKey: ["target", "list", clusterId],
    queryFn: async ({ signal }) => {
      const targets = await everyItem((page) =>
        answer(api.GET("/api/v1/targets", { params: { query: { ...page, cluster_id: clusterId } }, signal })),
      );
      return targets.filter((target) => !target.retired_at).sort((a, b) => a.name.localeCompare(b.name));
    },
  });
}

export const createTarget = mutationOptions({
  meta: { isShownInPlace: true },
  mutationFn: (body: TargetInput) => answer(api.POST("/api/v1/targets", { body })),
  onSuccess: (_target, _body, _result, { client }) => client.invalidateQueries({ queryKey: ["target"] }),
});

export const retireTarget = mutationOptions({
  mutationFn: (targetId: number) =>
    answer(api.DELETE("/api/v1/targets/{target_id}", { params: { path: { target_id: targetId } } })),
  onSuccess: (_done, _id, _result, { client }) => client.invalidateQueries({ queryKey: ["target"] }),
});
