/** Requests of templates: plans that are kept under a name. */

import { mutationOptions, type QueryClient, queryOptions } from "@tanstack/react-query";
import { answer, api } from "@/api/client";
import { everyItem } from "@/api/pages";
import type { TemplateInput, TemplatePatch } from "@/api/types";

/** Every template of a cluster, by name. */
export function templatesQuery(clusterId: number) {
  return queryOptions({
    queryKey: ["template", "list", clusterId],
    queryFn: async ({ signal }) => {
      const templates = await everyItem((page) =>
        answer(
          api.GET("/api/v1/templates", { params: { query: { ...page, cluster_id: clusterId } }, signal }),
        ),
      );
      return templates.sort((a, b) => a.name.localeCompare(b.name));
    },
  });
}

export function templateQuery(templateId: number) {
  return queryOptions({
    queryKey: ["template", templateId],
    queryFn: ({ signal }) =>
      answer(
        api.GET("/api/v1/templates/{template_id}", { params: { path: { template_id: templateId } }, signal }),
      ),
  });
}

function refetch(client: QueryClient): Promise<void> {
  return client.invalidateQueries({ queryKey: ["template"] });
}

export const createTemplate = mutationOptions({
  meta: { isShownInPlace: true },
  mutationFn: (body: TemplateInput) => answer(api.POST("/api/v1/templates", { body })),
  onSuccess: (_template, _body, _result, { client }) => refetch(client),
});

export const changeTemplate = mutationOptions({
  meta: { isShownInPlace: true },
  mutationFn: ({ templateId, body }: { templateId: number; body: TemplatePatch }) =>
    answer(
      api.PATCH("/api/v1/templates/{template_id}", { params: { path: { template_id: templateId } }, body }),
    ),
  onSuccess: (_template, _wanted, _result, { client }) => refetch(client),
});

export const removeTemplate = mutationOptions({
  mutationFn: (templateId: number) =>
    answer(api.DELETE("/api/v1/templates/{template_id}", { params: { path: { template_id: templateId } } })),
  onSuccess: (_done, _id, _result, { client }) => refetch(client),
});
