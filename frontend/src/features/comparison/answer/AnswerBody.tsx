/** Sentences of an answer with a small forest plot, on a card or on paper. */

import { t } from "@lingui/core/macro";
import type { ReactNode } from "react";
import { IntervalMark } from "@/components/IntervalMark";
import type { Contrast } from "./contrasts";
import { marksOf } from "./marks";
import { answerOf } from "./sentences";
import type { Sentence } from "./words";

const MARK_WIDTH = 120;

interface AnswerBodyProps {
  readonly contrasts: readonly Contrast[];
  /** Renders the button after a sentence that more repeats may settle; 0: unknown how many. */
  readonly renderRepeats?: ((count: number) => ReactNode) | undefined;
  /** Rendered if not all is shown. */
  readonly more?: ReactNode;
}

export function AnswerBody({ contrasts, renderRepeats, more }: AnswerBodyProps) {
  const { sentences, leftOut } = answerOf(contrasts);
  const forest = marksOf(contrasts);
  const baselines = [...new Set(contrasts.map(({ baseline }) => baseline))].join(", ");
  return (
    <div className="iotide-answer">
      <ul aria-label={t`Answer`}>
        {sentences.map((sentence) => (
          <AnswerLine key={sentence.key} renderRepeats={renderRepeats} sentence={sentence} />
        ))}
        {leftOut > 0 && more && <li>{more}</li>}
      </ul>
      {forest.marks.length > 0 && (
        <div className="iotide-ratios">
          <ul aria-label={t`Ratios to ${baselines}`}>
            {forest.marks.map(({ key, name, interval, words, isFaint }) => (
              <li key={key}>
                <span>{name}</span>
                <IntervalMark isFaint={isFaint} of={interval} reach={forest.reach} width={MARK_WIDTH} />
                <span className="iotide-number">{words}</span>
              </li>
            ))}
          </ul>
          <small className="quiet">
            {t`Ratio to ${baselines} with 95 % interval, logarithmic; dashed: 1.`}{" "}
            {forest.leftOut > 0 && t`${forest.leftOut} smaller not drawn.`}
          </small>
        </div>
      )}
    </div>
  );
}

interface AnswerLineProps extends Pick<AnswerBodyProps, "renderRepeats"> {
  readonly sentence: Sentence;
}

function AnswerLine({ sentence: { claim, detail, repeats }, renderRepeats }: AnswerLineProps) {
  return (
    <li>
      <strong>{claim}</strong> {detail} {repeats !== null && renderRepeats?.(repeats)}
    </li>
  );
}
