/** Fields that narrow a list: typed words, which are told once typing pauses, one of several choices, and a day. */

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
  const told = useRef(value);
  const tell = useDebouncedCallback((text: string) => {
    told.current = text;
    onText(text || undefined);
  }, TYPING_MILLISECONDS);
  // The address may change by itself, as by “Clear filters” or a saved view. What was told from here comes back late:
  // more may have been typed meanwhile, which stays.
  useEffect(() => {
    if (value === told.current) return;
    told.current = value;
    tell.cancel();
    setTyped(value);
  }, [value, tell]);
  return (
    <TextInput
      aria-label={label}
      maxLength={100}
      onChange={({ currentTarget: { value: text } }) => {
        setTyped(text);
        tell(text);
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
  /** Stands there while nothing is chosen. */
  readonly all: string;
  readonly choices: readonly (Value | { readonly value: Value; readonly label: string })[];
  /** Stays to be seen where it is not, or no longer, offered. */
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

/** A day by the clock that moments are shown on. */
export function DayFilter({ label, value, onDay }: DayFilterProps) {
  const zone = shownTimeZone();
  return (
    <TextInput
      aria-label={label}
      leftSection={<Text size="xs">{label}</Text>}
      leftSectionWidth={44}
      onChange={({ currentTarget }) => onDay(currentTarget.value || undefined)}
      size="xs"
      title={t`A day in ${zone}`}
      type="date"
      value={value ?? ""}
      w={176}
    />
  );
}
