import { t } from "@lingui/core/macro";
import { Select } from "@mantine/core";

interface TimeZoneSelectProps {
  readonly value: string;
  readonly onChange: (timeZone: string) => void;
  readonly description?: string;
}

export function TimeZoneSelect({ value, onChange, description }: TimeZoneSelectProps) {
  const known = new Set([value, "UTC", ...Intl.supportedValuesOf("timeZone")]);
  return (
    <Select
      allowDeselect={false}
      data={[...known]}
      description={description ?? t`Time zone of the schedule, including daylight-saving changes.`}
      label={t`Time zone`}
      limit={50}
      onChange={(chosen) => chosen && onChange(chosen)}
      searchable
      value={value}
    />
  );
}
