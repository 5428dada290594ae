/** Checks of a run that found too little to call it good or bad: never the same as "passed". */

import { t } from "@lingui/core/macro";
import { DataList, Text } from "@mantine/core";
import type { RunDetail } from "@/api/types";
import { Definition } from "@/components/Definition";
import { Section } from "@/components/Page";

export function NotJudgedSection({ run }: { run: RunDetail }) {
  if (run.state !== "finished") return null;
  if (run.not_judged === null)
    return (
      <Section title={t`Not judged`}>
        <Text
          c="dimmed"
          size="sm"
        >{t`The version of the agent does not report which checks had no answer.`}</Text>
      </Section>
    );
  if (run.not_judged.length === 0) return null;
  return (
    <Section
      description={t`Checks that had too little data to answer. They did not pass, and they found nothing wrong.`}
      title={t`Not judged`}
    >
      <DataList size="sm">
        {groupsOf(run.not_judged).map(([title, reasons]) => (
          <Definition key={title} label={title}>
            {reasons.join("; ")}
          </Definition>
        ))}
      </DataList>
    </Section>
  );
}

/** By check, the reasons with the steps that they concern. */
export function groupsOf(checks: NonNullable<RunDetail["not_judged"]>): [string, string[]][] {
  const found = new Map<string, string[]>();
  for (const { title, phase, because } of checks) {
    const reasons = found.get(title) ?? [];
    found.set(title, [...reasons, phase ? `${phase}: ${because}` : because]);
  }
  return [...found];
}
