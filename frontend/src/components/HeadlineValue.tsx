/** The number that a run is known by, and which one it is. */

import type { ExplorerRun } from "@/api/types";
import { Detail } from "@/components/looks";
import { type ExportRecord, spread } from "@/lib/exported";
import { headlineWords } from "@/lib/headline";
import { MeasuredValue } from "./MeasuredValue";

type Headline = NonNullable<ExplorerRun["headline"]>;

interface HeadlineValueProps {
  readonly headline: (Omit<Headline, "flags"> & Partial<Pick<Headline, "flags">>) | null;
  /** Codes of the run's flags; they stand for those of a headline that has none of its own. */
  readonly flags?: readonly string[];
  /** Cautions that stand elsewhere in the row. */
  readonly said?: readonly string[];
}

const NONE: readonly string[] = [];

export function HeadlineValue({ headline, flags: ofRun = NONE, said }: HeadlineValueProps) {
  if (!headline) return null;
  const flags = headline.flags ?? ofRun;
  return (
    <span data-export={JSON.stringify(headlineColumns(headline, flags))}>
      <MeasuredValue flags={flags} unit={headline.unit} value={headline.value} {...(said && { said })} />{" "}
      <Detail component="span" fw={400}>
        {headlineWords(headline)}
      </Detail>
    </span>
  );
}

/** The metric is named by its code, and each label has a column of its own. */
function headlineColumns(
  { metric, labels, value, unit }: NonNullable<HeadlineValueProps["headline"]>,
  flags: readonly string[],
): ExportRecord {
  return { metric, ...spread("label_", labels), value, unit, flags: flags.join(" ") };
}
