/** Sentences of an answer with a small forest plot, on a card or on paper. */

import { t } from "@lingui/core/macro";
import type { ReactNode } from "react";
import { IntervalMark } from "@/components/IntervalMark";
import type { Contrast } from "./contrasts";
import { marksOf } from "./marks";
import { answerOf, type Sentence } from "./sentences";

const MARK_WIDTH = 160;

interface AnswerBodyProps {
  readonly contrasts: readonly Contrast[];
  /** Rendered after a sentence that more repeats may settle. */
  readonly repeats?: ReactNode;
  /** Rendered if not all is shown. */
  readonly more?: ReactNode;
}

export function AnswerBody({ contrasts, repeats, more }: AnswerBodyProps) {
  const { sentences, leftOut } = answerOf(contrasts);
  const forest = marksOf(contrasts);
  const baselines = [...new Set(contrasts.map(({ baseline }) => baseline))].join(", ");
  return (
    <div className="iotide-answer">
      <ul aria-label={t`Answer`}>
        {sentences.map((sentence) => (
          <AnswerLine key={sentence.key} repeats={repeats} sentence={sentence} />
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
            {t`Ratio to ${baselines} with its 95 % interval, logarithmic; the dashed line is 1.`}{" "}
            {forest.leftOut > 0 && t`${forest.leftOut} smaller ones are not drawn.`}
          </small>
        </div>
      )}
    </div>
  );
}

function AnswerLine({ sentence, repeats }: { sentence: Sentence; repeats: ReactNode }) {
  return (
    <li>
      <strong>{sentence.claim}</strong> {sentence.detail} {sentence.wantsRepeats && repeats}
    </li>
  );
}
