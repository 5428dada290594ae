import { t } from "@lingui/core/macro";
import { type MantineColorScheme, Radio, Stack, useMantineColorScheme } from "@mantine/core";
import { Dialog } from "@/components/Dialog";
import { usePreferences } from "@/components/preferences";
import { TimeZoneSelect } from "@/components/TimeZoneSelect";
import { RATE_UNITS, type RateUnits, setPreferences } from "@/lib/preferences";
import { timeZone } from "@/lib/time";

const RATE_TITLES: Readonly<Record<RateUnits, string>> = {
  decimal: "MB/s (1000)",
  binary: "MiB/s (1024)",
  bits: "Mbit/s (1000)",
};
const SCHEMES: readonly (readonly [MantineColorScheme, string])[] = [
  ["auto", t`Same as system`],
  ["light", t`Light`],
  ["dark", t`Dark`],
];

export default function DisplayModal({ onClose }: { onClose: () => void }) {
  const { rates, zone } = usePreferences();
  const { colorScheme, setColorScheme } = useMantineColorScheme();
  return (
    <Dialog onClose={onClose} title={t`Display`}>
      <Stack>
        <Radio.Group
          description={t`For tables and axes. Stored, submitted and exported values stay in bytes per second.`}
          label={t`Rate unit`}
          onChange={(chosen) => setPreferences({ rates: RATE_UNITS.find((one) => one === chosen) ?? rates })}
          value={rates}
        >
          <Stack gap="xs" mt="xs">
            {RATE_UNITS.map((value) => (
              <Radio key={value} label={RATE_TITLES[value]} value={value} />
            ))}
          </Stack>
        </Radio.Group>
        <TimeZoneSelect
          description={t`Applies to times on all pages and to times you enter.`}
          onChange={(chosen) => setPreferences({ zone: chosen === timeZone() ? null : chosen })}
          value={zone ?? timeZone()}
        />
        <Radio.Group
          label={t`Colours`}
          onChange={(chosen) => setColorScheme(SCHEMES.find(([value]) => value === chosen)?.[0] ?? "auto")}
          value={colorScheme}
        >
          <Stack gap="xs" mt="xs">
            {SCHEMES.map(([value, label]) => (
              <Radio key={value} label={label} value={value} />
            ))}
          </Stack>
        </Radio.Group>
      </Stack>
    </Dialog>
  );
}
