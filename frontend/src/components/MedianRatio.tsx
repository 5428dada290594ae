/** The ratio of two medians where there are too few runs for an interval: grey, and no percentage that looks like a finding. */

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
      title={t`ratio of the medians, without an interval`}
    >
      {t`ratio ${formatFactor(ratio)}`}
    </Text>
  );
}
