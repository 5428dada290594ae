import { t } from "@lingui/core/macro";
import { Trans } from "@lingui/react/macro";
import { Badge, Group, List, Stack, Text, Title } from "@mantine/core";
import { type UseQueryOptions, useQuery } from "@tanstack/react-query";
import type { ReactNode } from "react";
import type { Advice, AdviceEvidence, AdviceReport } from "@/api/types";
import { Command } from "@/components/Command";
import { RunLink } from "@/components/links";
import { Detail, Hint } from "@/components/looks";
import { OptionValue } from "@/components/OptionValue";
import { Loaded, Section } from "@/components/Page";
import { Row, ScrollTable } from "@/components/ScrollTable";
import { Quantity } from "@/components/values";

interface AdviceSectionProps<Key extends readonly unknown[]> {
  readonly query: UseQueryOptions<AdviceReport, Error, AdviceReport, Key>;
  readonly actions?: ReactNode;
}

export function AdviceSection<Key extends readonly unknown[]>({ query, actions }: AdviceSectionProps<Key>) {
  const report = useQuery(query);
  return (
    <Section actions={actions} title={t`Advice`}>
      <Loaded query={report}>{(found) => <Report report={found} />}</Loaded>
    </Section>
  );
}

function Report({ report }: { report: AdviceReport }) {
  return (
    <Stack gap="xs">
      {report.advice.length === 0 && <Nothing report={report} />}
      {byCode(report.advice).map(([advice, ...others]) => (
        <AdviceCard advice={advice} key={advice.code} others={others} />
      ))}
      {report.not_known.length > 0 && (
        <details>
          <summary>{t`Not checked (${report.not_known.length})`}</summary>
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

/** The same advice for several campaigns or mounts is one card. The most severe comes first, as the server sorts. */
function byCode(all: readonly Advice[]): [Advice, ...Advice[]][] {
  const cards = new Map<string, [Advice, ...Advice[]]>();
  for (const advice of all) {
    const card = cards.get(advice.code);
    if (card) card.push(advice);
    else cards.set(advice.code, [advice]);
  }
  return [...cards.values()];
}

function Nothing({ report: { places, cells } }: { report: AdviceReport }) {
  return (
    <Text>
      {places + cells === 0
        ? t`No advice yet: no facts, and no configuration with a valid run.`
        : t`No recommendations. Checked the facts of ${counted(places, "mount")} and the results of ${counted(cells, "configuration")}.`}
    </Text>
  );
}

function LookedAt({ report }: { report: AdviceReport }) {
  const absent = report.looked_at.filter((look) => look.fine.length + look.advised + look.not_known === 0);
  return (
    <details>
      <summary>{t`Checks performed`}</summary>
      <List size="sm">
        {report.looked_at
          .filter((look) => !absent.includes(look))
          .map(({ looks_at, fine, advised, not_known }) => (
            <List.Item key={looks_at}>
              <Trans>
                {looks_at}: {fine.length} passed, {advised} with advice, {not_known} not checked
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
        <Hint>{t`Not applicable here: ${absent.map(({ looks_at }) => looks_at).join("; ")}.`}</Hint>
      )}
      {report.is_cut && <Text size="sm">{t`Not all mounts and configurations were checked.`}</Text>}
    </details>
  );
}

function counted(count: number, what: string): string {
  return `${count} ${what}${count === 1 ? "" : "s"}`;
}

const COLOURS = { high: "red", medium: "orange", low: "blue" } as const;
const MOST_RUNS = 4;

interface AdviceCardProps {
  readonly advice: Advice;
  /** Advice of the same kind for others. */
  readonly others: readonly Advice[];
}

function AdviceCard({ advice, others }: AdviceCardProps) {
  return (
    <article aria-label={advice.title}>
      <details>
        <summary>
          <Badge color={COLOURS[advice.severity]}>{advice.severity}</Badge>{" "}
          <Title className="iotide-inline" order={3} size="h5">
            {advice.title}
          </Title>{" "}
          <Detail component="span" title={advice.subjects.join(", ")}>
            {nameSome(advice.subjects)}
          </Detail>
        </summary>
        <Stack gap="xs" my="xs">
          <Text size="sm">{advice.explanation}</Text>
          <Text size="sm">
            <b>{t`Remedy:`}</b> {advice.remedy}
          </Text>
          {advice.commands.map((command) => (
            <Command key={command} label={t`Copy ${command}`} text={command} />
          ))}
          <details>
            <summary>{t`Evidence (${advice.evidence.length})`}</summary>
            <Evidence evidence={advice.evidence} title={advice.title} />
            <Detail>{t`Source of the rule: ${advice.source}`}</Detail>
          </details>
          {others.length > 0 && (
            <details>
              <summary>{t`Also for ${others.length} more`}</summary>
              <Stack gap="xs" mt="xs">
                {others.map((other) => (
                  <AdviceCard advice={other} key={`${other.subjects[0]} ${other.title}`} others={[]} />
                ))}
              </Stack>
            </details>
          )}
        </Stack>
      </details>
    </article>
  );
}

function Evidence({ evidence, title }: { evidence: readonly AdviceEvidence[]; title: string }) {
  return (
    <ScrollTable head={[t`Quantity`, t`Value`, t`Source`]} label={t`Evidence: ${title}`} maxHeight={320}>
      {evidence.map((one, row) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: two numbers may have one name, and they never move
        <Row key={row}>
          <td className="iotide-wrap">{one.name}</td>
          <td className="iotide-wrap">
            <Value evidence={one} />
          </td>
          <Origin runIds={one.run_ids} />
        </Row>
      ))}
    </ScrollTable>
  );
}

function Value({ evidence: { name, value, unit } }: { evidence: AdviceEvidence }) {
  if (typeof value === "number" && unit) return <Quantity unit={unit} value={value} />;
  return <OptionValue name={name} value={value} />;
}

/** Links to the runs. Evidence without a run comes from an agent's report or is computed. */
function Origin({ runIds }: { runIds: readonly number[] }) {
  if (runIds.length === 0) return <span>{t`reported by the agent, or computed`}</span>;
  const more = runIds.length - MOST_RUNS;
  return (
    <Group gap={4}>
      {runIds.slice(0, MOST_RUNS).map((runId) => (
        <RunLink id={runId} key={runId} name={t`run ${runId}`} />
      ))}
      {more > 0 && <span>{t`and ${more} more`}</span>}
    </Group>
  );
}

const MOST_NAMED = 4;

function nameSome(subjects: readonly string[]): string {
  const more = subjects.length - MOST_NAMED;
  return subjects.slice(0, MOST_NAMED).join(", ") + (more > 0 ? t` and ${more} more` : "");
}
