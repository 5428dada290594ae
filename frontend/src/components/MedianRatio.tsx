/**
 * Ratio of two medians with too few runs for an interval. Grey and no percentage, so that it does not look like a
 * finding.
 */

import { t } from "@lingui/core/macro";
import { Text } from "@mantine/core";
import { formatFactor } from "@/lib/units";

export function MedianRatio({ ratio }: { ratio: number }) {
  return (
    <Text
      c="dimmed"
      className="iotide-number"
      component="span"
      data-export={JSON.stringify({ ratio })}
      inherit
      title={t`ratio of medians, no interval`}
    >
      {t`ratio ${formatFactor(ratio)}`}
    </Text>
  );
}
