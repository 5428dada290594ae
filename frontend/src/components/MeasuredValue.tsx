/** A measured number with what a reader must know before trusting it: bold only where nothing speaks against it. */

import { Badge } from "@mantine/core";
import type { Unit } from "@/lib/units";
import { cautionsOf, flagTitles } from "./flagWords";
import { Quantity } from "./values";

interface MeasuredValueProps {
  readonly value: number | null;
  readonly unit: Unit;
  /** Codes of the flags of its runs. */
  readonly flags: readonly string[];
  /** Cautions that stand above for all numbers together. */
  readonly said?: readonly string[];
}

const NONE: readonly string[] = [];

export function MeasuredValue({ value, unit, flags, said = NONE }: MeasuredValueProps) {
  const cautions = cautionsOf(flags);
  return (
    <span data-export={JSON.stringify({ value, unit, flags: flags.join(" ") })}>
      <span className={cautions.length > 0 ? "iotide-cautioned" : "iotide-strong"}>
        <Quantity unit={unit} value={value} />
      </span>
      <Caution words={cautions.filter((one) => !said.includes(one))} />
    </span>
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

/** Titles of flags; exports have their codes. */
export function FlagTitles({ codes }: { codes: readonly string[] }) {
  return <span data-export={JSON.stringify({ value: codes.join(" ") })}>{flagTitles(codes)}</span>;
}
