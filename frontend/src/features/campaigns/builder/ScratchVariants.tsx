/** Variants that a node makes on scratch disks, with geometry and time, and those that cannot be made. */

import { t } from "@lingui/core/macro";
import { Stack, Text } from "@mantine/core";
import type { Preview } from "@/api/types";
import { Problem } from "@/components/looks";
import { Row, ScrollTable } from "@/components/ScrollTable";
import { Datum } from "@/components/values";
import { formatEstimate } from "@/lib/units";
import { variantsOf } from "./variants";

type ScratchPreview = NonNullable<Preview["scratch"]>;

export function ScratchVariants({ preview }: { preview: ScratchPreview }) {
  const variants = variantsOf(preview.stages);
  return (
    <Stack gap="xs">
      <Text size="sm">{madeWords(preview, variants.length)}</Text>
      {preview.clients.length > 0 && (
        <Text size="sm">{t`Served by NFS to ${preview.clients.join(", ")}.`}</Text>
      )}
      <ScrollTable
        head={[t`Variant`, t`Stride / stripe width`, t`Time to make`]}
        label={t`Variants on scratch disks`}
        maxHeight={420}
      >
        {variants.map(({ variant, unit_blocks: unit, width_blocks: width, seconds }) => (
          <Row key={variant}>
            <td className="iotide-wrap">{variant}</td>
            {width === 0 ? t`no stripes` : t`${unit} / ${width} blocks`}
            <Datum unit="seconds" value={seconds}>
              {seconds === null ? t`unknown` : t`about ${formatEstimate(seconds)}`}
            </Datum>
          </Row>
        ))}
        {preview.left_out.map(({ variant, reason }) => (
          <tr key={variant}>
            <td className="iotide-wrap">{variant}</td>
            <td className="iotide-wrap" colSpan={2}>
              <Problem>{t`left out: ${reason}`}</Problem>
            </td>
          </tr>
        ))}
      </ScrollTable>
    </Stack>
  );
}

function madeWords({ stages, make_seconds_estimated: seconds }: ScratchPreview, count: number): string {
  const rounds = stages.length / Math.max(1, count);
  const variants = count === 1 ? t`1 variant` : t`${count} variants`;
  const often = rounds === 1 ? t`each made once` : t`each made ${rounds} times`;
  const time = seconds === null ? t`time to make unknown` : t`about ${formatEstimate(seconds)} to make all`;
  return t`${variants}, ${often}, ${time}. Blocks have 4 KiB.`;
}
