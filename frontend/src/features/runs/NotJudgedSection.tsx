/** Checks without a result. They are not the same as passed. */

import { t } from "@lingui/core/macro";
import { DataList, Text } from "@mantine/core";
import type { RunDetail } from "@/api/types";
import { Definition } from "@/components/Definition";
import { Fold } from "@/components/Fold";
import {
  codesOf,
  type FlagRank,
  flagTitle,
  flagTitles,
  meaningOf,
  notesOf,
  rankOfFlag,
  remedyOf,
  shownFlags,
} from "@/components/flagWords";
import { Hint } from "@/components/looks";
import { useTitlesOf } from "@/components/optionTitles";
import { Reasons } from "@/components/Reasons";
import { ScrollTable } from "@/components/ScrollTable";
import { describeValues } from "@/lib/options";

export function NotJudgedSection({ run }: { run: RunDetail }) {
  if (run.state !== "finished") return null;
  if (run.not_judged === null)
    return (
      <Fold title={t`Checks not evaluated`} summary={t`unknown`}>
        <Hint>{t`This agent version does not report which checks it could not evaluate.`}</Hint>
      </Fold>
    );
  if (run.not_judged.length === 0) return null;
  const groups = groupsOf(run.not_judged);
  return (
    <Fold summary={groups.map(([title]) => title).join(", ")} title={t`Checks not evaluated`}>
      <Hint mb="xs">{t`Checks with too little data. They neither passed nor failed.`}</Hint>
      <DataList size="sm">
        {groups.map(([title, reasons]) => (
          <Definition key={title} label={title}>
            {reasons.join("; ")}
          </Definition>
        ))}
      </DataList>
    </Fold>
  );
}

/** Reasons by check, with the steps they concern. */
function groupsOf(checks: NonNullable<RunDetail["not_judged"]>): [string, string[]][] {
  const found = new Map<string, string[]>();
  for (const { title, phase, because } of checks) {
    const reasons = found.get(title) ?? [];
    found.set(title, [...reasons, phase ? `${phase}: ${because}` : because]);
  }
  return [...found];
}

const OUTLIERS: ReadonlySet<string> = new Set(["OUTLIER", "PEER_ODD"]);

/** Words of the run's flags that may explain why it is an outlier. */
function otherNotes(flags: RunDetail["flags"]): string[] {
  return notesOf(codesOf(flags).filter((code) => !OUTLIERS.has(code)));
}

/** Flags of rank 4 are properties of the plan; the campaign's page states them. */
export function FlagsSection({ run }: { run: RunDetail }) {
  const titleOf = useTitlesOf()(run.workload);
  const flags = shownFlags(run.flags);
  if (flags.length === 0) return null;
  const hasLimit = flags.some(({ limit }) => limit !== "");
  return (
    <Fold summary={flagTitles(codesOf(flags))} title={t`Flags`}>
      <ScrollTable
        head={[t`Flag`, t`Measured`, t`Scope`, ...(hasLimit ? [t`Limit`] : []), t`Effect`]}
        label={t`Flags`}
      >
        {flags.map((flag) => (
          <tr key={JSON.stringify(flag)}>
            <td className="iotide-strong">
              <span data-export={JSON.stringify({ value: flag.code })}>{flagTitle(flag.code)}</span>
            </td>
            <td className="iotide-wrap">
              {flag.measured}
              {OUTLIERS.has(flag.code) && <Reasons reasons={otherNotes(flags)} />}
            </td>
            <td className="iotide-wrap">{describeValues(flag.labels ?? {}, titleOf) || t`the whole run`}</td>
            {hasLimit && <td className="iotide-wrap">{flag.limit}</td>}
            <td className="iotide-wrap">{effectOf(rankOfFlag(flag))}</td>
          </tr>
        ))}
      </ScrollTable>
      <DataList mt="md" orientation="vertical" size="sm">
        {codesOf(flags).map((code) => (
          <Definition key={code} label={flagTitle(code)}>
            <Text size="sm">
              {meaningOf(code)} <Hint component="span">{remedyOf(code)}</Hint>
            </Text>
          </Definition>
        ))}
      </DataList>
    </Fold>
  );
}

/** Describes what a flag does to the numbers that it concerns. */
function effectOf(rank: FlagRank): string {
  if (rank === 1) return t`excluded from all results`;
  return rank === 2 ? t`not compared with numbers without it` : t`may explain a change or a difference`;
}
