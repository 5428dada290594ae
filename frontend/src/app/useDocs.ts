/** Commands that explain: the words of the glossary, the documentation, and the description of the API. */

import { t } from "@lingui/core/macro";
import { useNavigate } from "@tanstack/react-router";
import { DOCS } from "@/components/links";
import { GLOSSARY } from "@/lib/glossary";
import { type Command, matchCommands } from "./commands";

/** Shorter texts match most words. */
const LEAST_TYPED = 3;

export function useDocs(typed: string): Command[] {
  const navigate = useNavigate();
  if (typed.trim().length < LEAST_TYPED) return [];
  const words = GLOSSARY.map(
    ({ word }): Command => ({
      id: t`word ${word}`,
      label: word,
      group: "Glossary",
      run: () => void navigate({ to: "/glossary", search: { word } }),
    }),
  );
  return matchCommands([...words, ...documents((to) => void navigate({ to }))], typed);
}

function documents(openPage: (to: "/glossary" | "/tools/stripes") => void): Command[] {
  return [
    { id: "glossary", label: t`Help: all words`, group: "Glossary", run: () => openPage("/glossary") },
    {
      id: "stripes",
      label: t`Stripe calculator: stride, su, sw and mkfs of a RAID or LVM layout`,
      group: "Docs",
      run: () => openPage("/tools/stripes"),
    },
    { id: "docs", label: t`Help: documentation`, group: "Docs", run: () => location.assign(DOCS) },
    {
      id: "api",
      label: t`Help: API description (OpenAPI, JSON)`,
      group: "Docs",
      run: () => void open("/api/v1/openapi.json", "_blank", "noopener"),
    },
  ];
}
