/** A time zone by its IANA name, found by typing a part of it. */

import { Select } from "@mantine/core";

interface TimeZoneSelectProps {
  readonly value: string;
  readonly onChange: (timeZone: string) => void;
}

export function TimeZoneSelect({ value, onChange }: TimeZoneSelectProps) {
  const known = new Set([value, "UTC", ...Intl.supportedValuesOf("timeZone")]);
  return (
    <Select
      allowDeselect={false}
      data={[...known]}
      description="Whose clocks count, also when they change."
      label="Time zone"
      limit={50}
      onChange={(chosen) => chosen && onChange(chosen)}
      searchable
      value={value}
    />
  );
}
