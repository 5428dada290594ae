/** The main number of a run with its name. */

import type { ExplorerRun } from "@/api/types";
import { Detail } from "@/components/looks";
import { type ExportRecord, spread } from "@/lib/exported";
import { headlineWords } from "@/lib/headline";
import { MeasuredValue } from "./MeasuredValue";

type Headline = NonNullable<ExplorerRun["headline"]>;
type FlagFields = "flags" | "usual_flags";

interface HeadlineValueProps {
  readonly headline: (Omit<Headline, FlagFields> & Partial<Pick<Headline, FlagFields>>) | null;
  /** Codes of the run's flags, for a headline without flags of its own. */
  readonly flags?: readonly string[];
  /** Codes of the flags that exclude the number from all results. */
  readonly rejecting?: readonly string[];
  /** Cautions and notes that the row shows elsewhere. */
  readonly shownElsewhere?: readonly string[];
}

const NONE: readonly string[] = [];

export function HeadlineValue({
  headline,
  flags: ofRun = NONE,
  rejecting = NONE,
  shownElsewhere,
}: HeadlineValueProps) {
  if (!headline) return null;
  const flags = headline.flags ?? ofRun;
  return (
    <span data-export={JSON.stringify(headlineColumns(headline, flags))}>
      <MeasuredValue
        flags={flags}
        rejecting={rejecting}
        unit={headline.unit}
        usual={headline.usual_flags ?? NONE}
        value={headline.value}
        {...(shownElsewhere && { shownElsewhere })}
      />{" "}
      <Detail component="span" fw={400}>
        {headlineWords(headline)}
      </Detail>
    </span>
  );
}

/** Exports have the code of the metric and a column for each label. */
function headlineColumns(
  { metric, labels, value, unit }: NonNullable<HeadlineValueProps["headline"]>,
  flags: readonly string[],
): ExportRecord {
  return { metric, ...spread("label_", labels), value, unit, flags: flags.join(" ") };
}
