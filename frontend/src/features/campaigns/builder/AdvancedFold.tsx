/** Inputs of a plan that few campaigns need; the fold's title says which of them are set. */

import { t } from "@lingui/core/macro";
import { useQuery } from "@tanstack/react-query";
import type { Node } from "@/api/types";
import { templatesQuery } from "../templates/queries";
import { TemplatesSection } from "../templates/TemplatesSection";
import { CACHE, ConditionsSection, EXCLUSIVITY } from "./ConditionsSection";
import { type Draft, EMPTY_DRAFT } from "./draft";
import { Fold } from "./Fold";
import { ObserversSection } from "./ObserversSection";
import { POLICIES } from "./quiet";
import { StagesSection } from "./StagesSection";

interface AdvancedFoldProps {
  readonly clusterId: number;
  readonly draft: Draft;
  readonly nodes: readonly Node[];
  /** The schedule being edited needs no template. */
  readonly schedule: object | undefined;
  readonly templateId: number | undefined;
  readonly onChange: (draft: Draft) => void;
}

export function AdvancedFold({ clusterId, draft, nodes, onChange, schedule, templateId }: AdvancedFoldProps) {
  const { data: templates = [] } = useQuery(templatesQuery(clusterId));
  const used = templates.find(({ id }) => id === templateId);
  const ofTemplates = used ? t`template ${used.name}` : countWords(templates.length);
  return (
    <Fold
      differences={[...differencesOf(draft), ...(ofTemplates ? [ofTemplates] : [])]}
      title={t`Advanced`}
      usual={t`conditions, stages, monitored nodes, templates`}
    >
      <ConditionsSection draft={draft} onChange={onChange} />
      {(!draft.scratch || draft.stages.length > 0) && <StagesSection draft={draft} onChange={onChange} />}
      <ObserversSection draft={draft} nodes={nodes} onChange={onChange} />
      {!schedule && <TemplatesSection clusterId={clusterId} usedId={templateId} />}
    </Fold>
  );
}

function countWords(count: number): string {
  if (count === 0) return "";
  return count === 1 ? t`1 template` : t`${count} templates`;
}

/** Say which conditions, stages and observers differ from those of an empty draft. */
export function differencesOf(draft: Draft): string[] {
  const usual = EMPTY_DRAFT;
  const { coolDown, timeLimit, attemptsAllowed, priority, stages, observers, note } = draft;
  return [
    draft.exclusive !== usual.exclusive && labelOf(EXCLUSIVITY, draft.exclusive),
    draft.cache !== usual.cache && t`cache: ${labelOf(CACHE, draft.cache)}`,
    draft.quiet.policy !== usual.quiet.policy && t`other load: ${labelOf(POLICIES, draft.quiet.policy)}`,
    coolDown !== usual.coolDown && t`cool-down ${coolDown}`,
    timeLimit !== usual.timeLimit && t`time limit ${timeLimit}`,
    attemptsAllowed !== usual.attemptsAllowed && t`${attemptsAllowed} attempts`,
    priority !== usual.priority && t`priority ${priority}`,
    stages.length > 0 && (stages.length === 1 ? t`1 stage` : t`${stages.length} stages`),
    observers.length > 0 && t`monitors ${observers.join(", ")}`,
    note !== "" && t`a note`,
  ].filter((text) => text !== false);
}

function labelOf(
  choices: readonly { readonly value: string; readonly label: string }[],
  chosen: string,
): string {
  const { label = chosen } = choices.find(({ value }) => value === chosen) ?? {};
  return label.slice(0, 1).toLowerCase() + label.slice(1);
}
