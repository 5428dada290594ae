/** Choice of the time range that all charts of a page share. */

import { t } from "@lingui/core/macro";
import { Button, Group, SegmentedControl } from "@mantine/core";
import { useNow } from "@/components/clock";
import type { Span } from "@/plots/timeAxis";
import { PRESET_DAYS, presetOf, presetSpan, spanWords } from "./span";

const NOW_STEP_SECONDS = 600;
const CUSTOM = "custom";

interface TimeRangeProps {
  readonly span: Span;
  /** Both ends, so that a spread into the address replaces both. */
  readonly onSpan: (span: { from: string | undefined; to: string | undefined }) => void;
}

export function TimeRange({ span, onSpan }: TimeRangeProps) {
  const now = useNow(NOW_STEP_SECONDS);
  const preset = presetOf(span, now);
  const choose = (days: number) =>
    onSpan({ from: days > 0 ? presetSpan(days, now).from : undefined, to: undefined });
  return (
    <Group gap="xs">
      <SegmentedControl
        aria-label={t`Time range`}
        data={[
          ...PRESET_DAYS.map((days) => ({ value: String(days), label: t`${days} d` })),
          { value: "0", label: t`All` },
        ]}
        onChange={(chosen) => choose(Number(chosen))}
        size="xs"
        value={preset === undefined ? CUSTOM : String(preset)}
      />
      {preset === undefined && (
        <Button onClick={() => choose(0)} size="compact-sm" title={t`Reset zoom`} variant="default">
          {t`${spanWords(span)} ×`}
        </Button>
      )}
    </Group>
  );
}
