/**
 * A measured number with its cautions; bold only without any. Flags that may explain it are counted. Flags that are
 * usual in its series are grey; one that is missing is named.
 */

import { t } from "@lingui/core/macro";
import { Badge } from "@mantine/core";
import type { Unit } from "@/lib/units";
import { cautionsOf, flagTitles, missingFlags, remarksOf, shownCodes } from "./flagWords";
import { Quantity } from "./values";

interface MeasuredValueProps {
  readonly value: number | null;
  readonly unit: Unit;
  readonly flags: readonly string[];
  /** Codes of the flags that exclude the number from all results. */
  readonly rejecting?: readonly string[];
  /** Codes of the flags that the series' runs usually have. */
  readonly usual?: readonly string[];
  /** Cautions and notes already shown for all numbers together. */
  readonly shownElsewhere?: readonly string[];
}

const NONE: readonly string[] = [];

export function MeasuredValue(props: MeasuredValueProps) {
  const { value, unit, flags, rejecting = NONE, usual = NONE, shownElsewhere = NONE } = props;
  const isDoubtful = cautionsOf(flags, rejecting).length > 0;
  return (
    <span data-export={JSON.stringify({ value, unit, flags: flags.join(" ") })}>
      <span className={isDoubtful ? "iotide-cautioned" : "iotide-strong"}>
        <Quantity unit={unit} value={value} />
      </span>
      <Remarks flags={flags} rejecting={rejecting} shownElsewhere={shownElsewhere} usual={usual} />
    </span>
  );
}

type RemarksProps = Omit<MeasuredValueProps, "value" | "unit">;

/** Cautions of a number, usual and missing flags, and the number of its notes. */
export function Remarks({ flags, rejecting = NONE, usual = NONE, shownElsewhere = NONE }: RemarksProps) {
  const remarks = remarksOf(flags, usual, rejecting);
  const isShown = (word: string) => !shownElsewhere.includes(word);
  return (
    <>
      <Caution words={cautionsOf(remarks.named, rejecting).filter(isShown)} />
      <UsualFlags words={remarks.usual.filter(isShown)} />
      <MissingFlags codes={missingFlags(flags, usual)} />
      <NoteCount words={remarks.notes.filter(isShown)} />
    </>
  );
}

function Caution({ words }: { words: readonly string[] }) {
  if (words.length === 0) return null;
  return (
    <Badge className="iotide-caution" color="orange">
      {words.join(", ")}
    </Badge>
  );
}

/** Cautions that the runs of the series usually have. */
export function UsualFlags({ words }: { words: readonly string[] }) {
  if (words.length === 0) return null;
  return (
    <Badge className="iotide-caution" color="gray" title={t`most runs of the series have it`}>
      {t`usual here: ${words.join(", ")}`}
    </Badge>
  );
}

/** Flags that the runs of the series usually have, but not this one. */
export function MissingFlags({ codes }: { codes: readonly string[] }) {
  if (codes.length === 0) return null;
  return (
    <Badge
      className="iotide-caution"
      color="orange"
      title={t`most runs of the series have it`}
      variant="outline"
    >
      {t`without: ${cautionsOf(codes).join(", ")}`}
    </Badge>
  );
}

/** Number of flags that may explain a number; their words are the tooltip. */
export function NoteCount({ words }: { words: readonly string[] }) {
  if (words.length === 0) return null;
  return (
    <Badge className="iotide-caution" color="gray" title={words.join(", ")}>
      {words.length === 1 ? t`1 note` : t`${words.length} notes`}
    </Badge>
  );
}

/** Titles of flags. Exports have their codes. */
export function FlagTitles({ codes }: { codes: readonly string[] }) {
  return (
    <span data-export={JSON.stringify({ value: codes.join(" ") })}>{flagTitles(shownCodes(codes))}</span>
  );
}
