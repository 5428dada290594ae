/** First choice on an empty builder: a campaign per question. */

import { t } from "@lingui/core/macro";
import { Button, Card, Menu, SimpleGrid, Text } from "@mantine/core";
import type { Workload } from "@/api/types";
import { Detail } from "@/components/looks";
import { Section } from "@/components/Page";
import type { Draft } from "./draft";
import { missingWorkloads, READY_MADE, type ReadyMadePlan, withReadyMade } from "./readyMade";

const EXPERIMENT = /^experiment-/;
const QUESTIONS = READY_MADE.filter(({ key }) => !EXPERIMENT.test(key));
const EXPERIMENTS = READY_MADE.filter(({ key }) => EXPERIMENT.test(key));

interface ReadyMadeProps {
  readonly draft: Draft;
  readonly workloads: readonly Workload[];
  readonly onChange: (draft: Draft) => void;
}

export function ReadyMade({ draft, workloads, onChange }: ReadyMadeProps) {
  const take = ({ plan }: ReadyMadePlan) => onChange(withReadyMade(draft, plan));
  return (
    <Section
      actions={<Experiments onTake={take} workloads={workloads} />}
      description={t`Each fills in workloads and conditions. Or add workloads one by one below.`}
      title={t`What do you want to know?`}
    >
      <SimpleGrid cols={{ base: 1, sm: 2, lg: 5 }} spacing="xs">
        {QUESTIONS.map((made) => (
          <Question key={made.key} made={made} onTake={take} workloads={workloads} />
        ))}
      </SimpleGrid>
    </Section>
  );
}

interface QuestionProps {
  readonly made: ReadyMadePlan;
  readonly workloads: readonly Workload[];
  readonly onTake: (made: ReadyMadePlan) => void;
}

function Question({ made, workloads, onTake }: QuestionProps) {
  const missing = missingWorkloads(made.plan, workloads);
  return (
    <Card
      bg="transparent"
      component="button"
      disabled={missing.length > 0}
      onClick={() => onTake(made)}
      padding="sm"
      ta="start"
      type="button"
      withBorder
    >
      <Text fw={600} size="sm">
        {made.title}
      </Text>
      <Detail>{missing.length > 0 ? t`No agent announces ${missing.join(", ")}.` : made.question}</Detail>
    </Card>
  );
}

function Experiments({ workloads, onTake }: Omit<QuestionProps, "made">) {
  return (
    <Menu position="bottom-end" width={420}>
      <Menu.Target>
        <Button size="xs" variant="default">{t`Published experiments`}</Button>
      </Menu.Target>
      <Menu.Dropdown>
        {EXPERIMENTS.map((made) => {
          const missing = missingWorkloads(made.plan, workloads);
          return (
            <Menu.Item disabled={missing.length > 0} key={made.key} onClick={() => onTake(made)}>
              {made.title}
              <Detail>
                {missing.length > 0 ? t`No agent announces ${missing.join(", ")}.` : made.summary}
              </Detail>
            </Menu.Item>
          );
        })}
      </Menu.Dropdown>
    </Menu>
  );
}
