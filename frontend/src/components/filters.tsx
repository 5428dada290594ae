/** Fields that narrow a list: typed words, which are told once typing pauses, and a day. */

import { t } from "@lingui/core/macro";
import { Text, TextInput } from "@mantine/core";
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
