/** One advice: what is the matter, why, by which numbers, and what mends it. */

import { t } from "@lingui/core/macro";
import { Badge, Group, Paper, Stack, Text, Title } from "@mantine/core";
import type { Advice, AdviceEvidence } from "@/api/types";
import { Command } from "@/components/Command";
import { RunLink } from "@/components/links";
import { OptionValue } from "@/components/OptionValue";
import { Row, ScrollTable } from "@/components/ScrollTable";
import { Quantity } from "@/components/values";

const COLOURS = { high: "red", medium: "orange", low: "blue" } as const;
const MOST_RUNS = 4;

export function AdviceCard({ advice }: { advice: Advice }) {
  return (
    <Paper aria-label={advice.title} component="article" p="sm" withBorder>
      <Stack gap="xs">
        <Group gap="xs">
          <Badge color={COLOURS[advice.severity]}>{advice.severity}</Badge>
          <Title order={3} size="h5" style={{ overflowWrap: "anywhere" }}>
            {advice.title}
          </Title>
        </Group>
        <Text c="dimmed" size="sm" title={advice.subjects.join(", ")}>
          {nameSome(advice.subjects)}
        </Text>
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
          <Text c="dimmed" size="xs">
            {t`The rule is from: ${advice.source}`}
          </Text>
        </details>
      </Stack>
    </Paper>
  );
}

function Evidence({ evidence, title }: { evidence: readonly AdviceEvidence[]; title: string }) {
  return (
    <ScrollTable head={[t`What`, t`Value`, t`From`]} label={t`Evidence: ${title}`} maxHeight={320}>
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

/** Runs are linked; what no run saw is an agent's last word or computed from the rest. */
function Origin({ runIds }: { runIds: readonly number[] }) {
  if (runIds.length === 0) return <span>{t`agent, or computed`}</span>;
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

/** The first of many nodes or targets, and how many more there are. */
export function nameSome(subjects: readonly string[]): string {
  const more = subjects.length - MOST_NAMED;
  return subjects.slice(0, MOST_NAMED).join(", ") + (more > 0 ? t` and ${more} more` : "");
}
