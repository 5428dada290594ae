/** Checks of a run that found too little to call it good or bad: never the same as "passed". */

import { t } from "@lingui/core/macro";
import { DataList, Text } from "@mantine/core";
import type { RunDetail } from "@/api/types";
import { Definition } from "@/components/Definition";
import { FLAG_WORDS, flagTitle } from "@/components/flagWords";
import { Hint } from "@/components/looks";
import { useTitlesOf } from "@/components/optionTitles";
import { Section } from "@/components/Page";
import { ScrollTable } from "@/components/ScrollTable";
import { describeValues } from "@/lib/options";

export function NotJudgedSection({ run }: { run: RunDetail }) {
  if (run.state !== "finished") return null;
  if (run.not_judged === null)
    return (
      <Section title={t`Not judged`}>
        <Hint>{t`The version of the agent does not report which checks had no answer.`}</Hint>
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
function groupsOf(checks: NonNullable<RunDetail["not_judged"]>): [string, string[]][] {
  const found = new Map<string, string[]>();
  for (const { title, phase, because } of checks) {
    const reasons = found.get(title) ?? [];
    found.set(title, [...reasons, phase ? `${phase}: ${because}` : because]);
  }
  return [...found];
}

/** What a sceptic must know of a run: each flag with its measured value, and what its kind means. */
export function FlagsSection({ run }: { run: RunDetail }) {
  const titleOf = useTitlesOf()(run.workload);
  return (
    <Section description={t`Measured values that crossed a limit of honest measurement.`} title={t`Flags`}>
      <ScrollTable head={[t`Flag`, t`Measured`, t`Of`, t`Limit`, t`Effect`]} label={t`Flags`}>
        {run.flags.map((flag) => (
          <tr key={JSON.stringify(flag)}>
            <td className="iotide-strong">
              <span data-export={JSON.stringify({ value: flag.code })}>{flagTitle(flag.code)}</span>
            </td>
            <td>{flag.measured}</td>
            <td>{describeValues(flag.labels ?? {}, titleOf) || t`the whole run`}</td>
            <td>{flag.limit}</td>
            <td>{flag.effect === "rejected" ? t`rejected: out of trends` : t`marked, kept in trends`}</td>
          </tr>
        ))}
      </ScrollTable>
      <DataList mt="md" orientation="vertical" size="sm">
        {[...new Set(run.flags.map(({ code }) => code))].map((code) => (
          <Definition key={code} label={FLAG_WORDS[code].title}>
            <Text size="sm">
              {FLAG_WORDS[code].meaning} <Hint component="span">{FLAG_WORDS[code].remedy}</Hint>
            </Text>
          </Definition>
        ))}
      </DataList>
    </Section>
  );
}
