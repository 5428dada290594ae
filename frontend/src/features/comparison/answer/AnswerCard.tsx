/** The answer of a campaign: a comparison if there is one, else its headline numbers, then cautions. */

import { t } from "@lingui/core/macro";
import { Badge, Button, Stack } from "@mantine/core";
import type { ReactNode } from "react";
import { TextLink } from "@/components/links";
import { ErrorNotice, Loading, Section } from "@/components/Page";
import { Choice } from "../ComparedSection";
import { AnswerBody } from "./AnswerBody";
import { type Comparable, useAnswer } from "./useAnswer";

interface AnswerCardProps extends Comparable {
  readonly onChoose: (choice: string) => void;
  /** Shown where nothing is compared. */
  readonly numbers: ReactNode;
  /** Renders the quality of the results; true: the answer says that runs are missing. */
  readonly renderQuality: (isFewStated: boolean) => ReactNode;
  /** Undefined: the user may not add repeats. */
  readonly onRepeats: (() => void) | undefined;
}

export function AnswerCard({ numbers, renderQuality, onChoose, onRepeats, ...comparable }: AnswerCardProps) {
  const { campaign } = comparable;
  const answer = useAnswer(comparable);
  if (campaign.counts.finished === 0) return null;
  return (
    <Section
      actions={
        <>
          {campaign.ended_at === null && <Badge color="tide">{t`so far`}</Badge>}
          {answer.choices.length > 1 && (
            <Choice
              choices={answer.choices.map(({ value, label }) => [value, label])}
              label={t`Answer compares`}
              onChoose={onChoose}
              value={answer.by ?? ""}
            />
          )}
        </>
      }
      title={t`Answer`}
    >
      <Stack gap="sm">
        {answer.error && <ErrorNotice error={answer.error} onRetry={answer.refetch} />}
        {answer.isLoading && <Loading lines={3} />}
        {answer.contrasts.length > 0 && (
          <AnswerBody
            contrasts={answer.contrasts}
            more={<TextLink search={answer.compared} to="/compare">{t`Compare all results`}</TextLink>}
            renderRepeats={onRepeats && ((count) => <RepeatsButton count={count} onClick={onRepeats} />)}
          />
        )}
        {!answer.isLoading && answer.contrasts.length === 0 && numbers}
        {renderQuality(answer.contrasts.some(({ kind }) => kind === "few"))}
      </Stack>
    </Section>
  );
}

function RepeatsButton({ count, onClick }: { count: number; onClick: () => void }) {
  return (
    <Button onClick={onClick} size="compact-xs" variant="default">
      {count === 0 ? t`Add repeats to decide` : count === 1 ? t`Add 1 repeat` : t`Add ${count} repeats`}
    </Button>
  );
}

interface PaperAnswerProps extends Comparable {
  readonly numbers: ReactNode;
  readonly quality: ReactNode;
}

/** The same without controls, for a report. */
export function PaperAnswer({ numbers, quality, ...comparable }: PaperAnswerProps) {
  const { campaign } = comparable;
  const answer = useAnswer(comparable);
  if (campaign.counts.finished === 0) return <p>{t`No results yet.`}</p>;
  if (answer.error) return <ErrorNotice error={answer.error} onRetry={answer.refetch} />;
  if (answer.isLoading) return <Loading lines={3} />;
  return (
    <>
      {answer.contrasts.length > 0 ? <AnswerBody contrasts={answer.contrasts} /> : numbers}
      {quality}
    </>
  );
}
