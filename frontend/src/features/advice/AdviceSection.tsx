/** What a target or a campaign should know or change: each advice with its evidence and what mends it. */

import { t } from "@lingui/core/macro";
import { Trans } from "@lingui/react/macro";
import { List, Stack, Text } from "@mantine/core";
import { type UseQueryOptions, useQuery } from "@tanstack/react-query";
import type { ReactNode } from "react";
import type { AdviceReport } from "@/api/types";
import { Loaded, Section } from "@/components/Page";
import { AdviceCard, nameSome } from "./AdviceCard";

interface AdviceSectionProps<Key extends readonly unknown[]> {
  readonly query: UseQueryOptions<AdviceReport, Error, AdviceReport, Key>;
  readonly actions?: ReactNode;
}

export function AdviceSection<Key extends readonly unknown[]>({ query, actions }: AdviceSectionProps<Key>) {
  const report = useQuery(query);
  return (
    <Section
      actions={actions}
      description={t`What facts and results say, with the numbers behind it.`}
      title={t`Advice`}
    >
      <Loaded query={report}>{(found) => <Report report={found} />}</Loaded>
    </Section>
  );
}

function Report({ report }: { report: AdviceReport }) {
  return (
    <Stack>
      {report.advice.length === 0 && <Nothing report={report} />}
      {report.advice.map((advice) => (
        <AdviceCard advice={advice} key={`${advice.code} ${advice.subjects[0]} ${advice.title}`} />
      ))}
      {report.not_known.length > 0 && (
        <details>
          <summary>{t`Not known (${report.not_known.length})`}</summary>
          <List size="sm">
            {report.not_known.map(({ code, subjects, because }) => (
              <List.Item key={`${code} ${because}`}>
                {nameSome(subjects)}: {because}
              </List.Item>
            ))}
          </List>
        </details>
      )}
      <LookedAt report={report} />
    </Stack>
  );
}

function Nothing({ report: { places, cells } }: { report: AdviceReport }) {
  return (
    <Text>
      {places + cells === 0
        ? t`Nothing to judge yet: no facts, and no cell with a valid run.`
        : t`Nothing to advise, by the facts of ${counted(places, "place")} and the results of ${counted(cells, "cell")}.`}
    </Text>
  );
}

function LookedAt({ report }: { report: AdviceReport }) {
  const absent = report.looked_at.filter((look) => look.fine.length + look.advised + look.not_known === 0);
  return (
    <details>
      <summary>{t`What was looked at`}</summary>
      <List size="sm">
        {report.looked_at
          .filter((look) => !absent.includes(look))
          .map(({ looks_at, fine, advised, not_known }) => (
            <List.Item key={looks_at}>
              <Trans>
                {looks_at}: {fine.length} well, {advised} with advice, {not_known} not known
                {fine.length > 0 && (
                  <List size="xs" withPadding>
                    {fine.map((words) => (
                      <List.Item key={words}>{words}</List.Item>
                    ))}
                  </List>
                )}
              </Trans>
            </List.Item>
          ))}
      </List>
      {absent.length > 0 && (
        <Text c="dimmed" size="sm">
          {t`Nothing of this kind is here: ${absent.map(({ looks_at }) => looks_at).join("; ")}.`}
        </Text>
      )}
      {report.is_cut && <Text size="sm">{t`There is more than was looked at.`}</Text>}
    </details>
  );
}

function counted(count: number, what: string): string {
  return `${count} ${what}${count === 1 ? "" : "s"}`;
}
