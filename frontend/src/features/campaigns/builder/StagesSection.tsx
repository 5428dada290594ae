/** In which states of the servers the matrix is run, one after another, and what the operator does between them. */

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
        >{t`Add a stage`}</Button>
      }
      description={t`For servers that are changed in between, for instance formatted anew: the matrix is run in each stage.`}
      title={t`Stages`}
    >
      <Stack>
        {draft.stages.length === 0 && <Text c="dimmed">{t`The matrix is run once.`}</Text>}
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
          description={t`Its results stand apart from those of other variants.`}
          error={stage.variant.trim() === "" && t`Give a name.`}
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
            >{t`Up`}</Button>
          )}
          <ActionIcon aria-label={t`Remove stage ${number}`} onClick={onRemove} variant="subtle">
            <Icon name="trash" />
          </ActionIcon>
        </Group>
      </Group>
      <Textarea
        autosize
        description={t`Waits before the stage until an operator confirms; empty: it begins by itself.`}
        label={t`Stage ${number}: what the operator does first`}
        maxLength={4000}
        mt="xs"
        onChange={(event) => onChange({ ...stage, pause: event.currentTarget.value })}
        placeholder={t`Make the target anew with data=journal and mount it.`}
        value={stage.pause}
      />
    </Card>
  );
}
