/** Filters of a list: text (reported once typing pauses), a choice, and a day. */

import { t } from "@lingui/core/macro";
import { NativeSelect, Text, TextInput } from "@mantine/core";
import { useDebouncedCallback } from "@mantine/hooks";
import { type ReactNode, useEffect, useRef, useState } from "react";
import { shownTimeZone } from "@/lib/time";

const TYPING_MILLISECONDS = 300;

interface TextFilterProps {
  readonly label: string;
  readonly placeholder: string;
  readonly value: string | undefined;
  readonly width?: number;
  readonly leftSection?: ReactNode;
  readonly onText: (text: string | undefined) => void;
}

export function TextFilter({ label, value = "", width = 140, onText, ...input }: TextFilterProps) {
  const [typed, setTyped] = useState(value);
  const reported = useRef(value);
  const report = useDebouncedCallback((text: string) => {
    reported.current = text;
    onText(text || undefined);
  }, TYPING_MILLISECONDS);
  // “Clear filters” or a saved view may change the value from outside. The filter's own change arrives late and must
  // not overwrite what the user typed since.
  useEffect(() => {
    if (value === reported.current) return;
    reported.current = value;
    report.cancel();
    setTyped(value);
  }, [value, report]);
  return (
    <TextInput
      aria-label={label}
      maxLength={100}
      onChange={({ currentTarget: { value: text } }) => {
        setTyped(text);
        report(text);
      }}
      size="xs"
      value={typed}
      w={width}
      {...input}
    />
  );
}

export interface ChoiceFilterProps<Value extends string | number> {
  readonly label: string;
  /** Label of the empty choice. */
  readonly all: string;
  readonly choices: readonly (Value | { readonly value: Value; readonly label: string })[];
  /** Shown even if it is not among the choices. */
  readonly value: Value | undefined;
  readonly onChoose: (value: Value | undefined) => void;
  readonly size?: "xs" | "sm";
}

export function ChoiceFilter<Value extends string | number>(filter: ChoiceFilterProps<Value>) {
  const { label, all, choices, value, onChoose, size = "xs" } = filter;
  const offered = choices.map((one) => (typeof one === "object" ? one : { value: one, label: String(one) }));
  if (value !== undefined && !offered.some((one) => one.value === value))
    offered.push({ value, label: typeof value === "number" ? `${label} ${value}` : value });
  return (
    <NativeSelect
      aria-label={label}
      data={[{ value: "", label: all }, ...offered.map((one) => ({ ...one, value: String(one.value) }))]}
      onChange={({ currentTarget: { value: text } }) =>
        onChoose(offered.find((one) => String(one.value) === text)?.value)
      }
      size={size}
      value={String(value ?? "")}
    />
  );
}

interface DayFilterProps {
  readonly label: string;
  readonly value: string | undefined;
  readonly onDay: (day: string | undefined) => void;
}

/** A day in the display time zone. */
export function DayFilter({ label, value, onDay }: DayFilterProps) {
  const zone = shownTimeZone();
  return (
    <TextInput
      aria-label={label}
      leftSection={<Text size="xs">{label}</Text>}
      leftSectionWidth={44}
      onChange={({ currentTarget }) => onDay(currentTarget.value || undefined)}
      size="xs"
      title={t`Day in ${zone}`}
      type="date"
      value={value ?? ""}
      w={176}
    />
  );
}
