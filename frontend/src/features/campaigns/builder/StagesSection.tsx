/** Stages of a plan: the matrix runs in each, and an operator changes the servers in between. */

import { t } from "@lingui/core/macro";
import { ActionIcon, Button, Card, Group, Stack, Text, Textarea, TextInput } from "@mantine/core";
import { Icon } from "@/components/Icon";
import { Section } from "@/components/Page";
import { addStage, type Draft, moveStageUp } from "./draft";
import type { DraftStage } from "./places";

export function StagesSection({ draft, onChange }: { draft: Draft; onChange: (draft: Draft) => void }) {
  function replace(stage: DraftStage): void {
    onChange({ ...draft, stages: draft.stages.map((old) => (old.key === stage.key ? stage : old)) });
  }
  return (
    <Section
      actions={
        <Button
          leftSection={<Icon name="plus" size={14} />}
          onClick={() => onChange(addStage(draft))}
          size="xs"
        >{t`Add stage`}</Button>
      }
      description={t`Run the same matrix several times with a manual change in between, such as reformatting the target.`}
      title={t`Stages`}
    >
      <Stack>
        {draft.stages.length === 0 && <Text c="dimmed">{t`No stages: the matrix runs once.`}</Text>}
        {draft.stages.map((stage, index) => (
          <StageCard
            key={stage.key}
            number={index + 1}
            onChange={replace}
            onMoveUp={index > 0 ? () => onChange(moveStageUp(draft, index)) : undefined}
            onRemove={() =>
              onChange({ ...draft, stages: draft.stages.filter(({ key }) => key !== stage.key) })
            }
            stage={stage}
          />
        ))}
      </Stack>
    </Section>
  );
}

interface StageCardProps {
  readonly number: number;
  readonly stage: DraftStage;
  readonly onChange: (stage: DraftStage) => void;
  readonly onMoveUp: (() => void) | undefined;
  readonly onRemove: () => void;
}

function StageCard({ number, stage, onChange, onMoveUp, onRemove }: StageCardProps) {
  return (
    <Card bg="transparent" padding="sm" withBorder>
      <Group align="flex-start" justify="space-between" wrap="nowrap">
        <TextInput
          description={t`Results are kept separate for each variant.`}
          error={stage.variant.trim() === "" && t`Enter a name.`}
          flex={1}
          label={t`Stage ${number}: variant`}
          maxLength={100}
          onChange={(event) => onChange({ ...stage, variant: event.currentTarget.value })}
          placeholder={t`ext3 data=journal`}
          value={stage.variant}
        />
        <Group gap={4} wrap="nowrap">
          {onMoveUp && (
            <Button
              aria-label={t`Move stage ${number} up`}
              onClick={onMoveUp}
              size="compact-sm"
              variant="subtle"
            >{t`Move up`}</Button>
          )}
          <ActionIcon aria-label={t`Remove stage ${number}`} onClick={onRemove} variant="subtle">
            <Icon name="trash" />
          </ActionIcon>
        </Group>
      </Group>
      <Textarea
        autosize
        description={t`The stage waits until an operator confirms. Empty: it starts automatically.`}
        label={t`Stage ${number}: task for the operator`}
        maxLength={4000}
        mt="xs"
        onChange={(event) => onChange({ ...stage, pause: event.currentTarget.value })}
        placeholder={t`Reformat the target with data=journal and mount it.`}
        value={stage.pause}
      />
    </Card>
  );
}
