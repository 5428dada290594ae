import { mutationOptions, queryOptions } from "@tanstack/react-query";
import { get, getEvery, patch, post, refetch, remove } from "@/api/requests";
import type { TemplateInput, TemplatePatch } from "@/api/types";

export function templatesQuery(clusterId: number) {
  return queryOptions({
    queryKey: ["template", "list", clusterId],
    queryFn: async ({ signal }) =>
      (await getEvery("/api/v1/templates", { query: { cluster_id: clusterId }, signal })).sort((a, b) =>
        a.name.localeCompare(b.name),
      ),
  });
}

export function templateQuery(templateId: number) {
  return queryOptions({
    queryKey: ["template", templateId],
    queryFn: ({ signal }) =>
      get("/api/v1/templates/{template_id}", { path: { template_id: templateId }, signal }),
  });
}

export const createTemplate = mutationOptions({
  meta: { isShownInPlace: true },
  mutationFn: (body: TemplateInput) => post("/api/v1/templates", { body }),
  onSuccess: refetch(["template"]),
});

export const changeTemplate = mutationOptions({
  meta: { isShownInPlace: true },
  mutationFn: ({ templateId, body }: { templateId: number; body: TemplatePatch }) =>
    patch("/api/v1/templates/{template_id}", { path: { template_id: templateId }, body }),
  onSuccess: refetch(["template"]),
});

export const removeTemplate = mutationOptions({
  mutationFn: (templateId: number) =>
    remove("/api/v1/templates/{template_id}", { path: { template_id: templateId } }),
  onSuccess: refetch(["template"]),
});
