/** How numbers, times and colours are shown, in this browser; the page behind it follows at once. */

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
  ["auto", t`As the system has it`],
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
          description={t`In tables and at axes. What is stored, sent and exported stays in bytes per second.`}
          label={t`Rates in`}
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
          description={t`By whose clock moments are shown, and what you type is meant.`}
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
