/** Variants that a node makes on scratch disks, with geometry and time, and those that cannot be made. */

import { t } from "@lingui/core/macro";
import { Stack, Text } from "@mantine/core";
import type { Preview } from "@/api/types";
import { Detail, Hint, Problem } from "@/components/looks";
import { Row, ScrollTable } from "@/components/ScrollTable";
import { Datum, Quantity } from "@/components/values";
import { formatEstimate, formatValue } from "@/lib/units";
import { variantsOf } from "./variants";

type ScratchPreview = NonNullable<Preview["scratch"]>;

export function ScratchVariants({ preview }: { preview: ScratchPreview }) {
  const variants = variantsOf(preview.stages);
  const isFilled = variants.some(({ filled }) => filled !== 0);
  return (
    <Stack gap="xs">
      <Text size="sm">{madeWords(preview, variants.length)}</Text>
      {preview.clients.length > 0 && (
        <Text size="sm">{t`Served by NFS to ${preview.clients.join(", ")}.`}</Text>
      )}
      <ScrollTable
        head={[
          t`Variant`,
          t`Stride / stripe width`,
          t`Size`,
          ...(isFilled ? [t`Written by fills`] : []),
          t`Time to make`,
        ]}
        label={t`Variants on scratch disks`}
        maxHeight={420}
      >
        {variants.map(({ variant, unit_blocks: unit, width_blocks: width, ...one }) => (
          <Row key={variant}>
            <td className="iotide-wrap">{variant}</td>
            {width === 0 ? t`no stripes` : t`${unit} / ${width} blocks`}
            <Bytes value={one.size_bytes} />
            {isFilled ? [<Bytes key="filled" value={one.filled} />] : []}
            <Datum unit="seconds" value={one.seconds}>
              {one.seconds === null ? t`unknown` : t`about ${formatEstimate(one.seconds)}`}
              {one.is_measured && <Detail>{one.filled === 0 ? t`as measured` : t`make as measured`}</Detail>}
            </Datum>
          </Row>
        ))}
        {preview.left_out.map(({ variant, reason }) => (
          <tr key={variant}>
            <td className="iotide-wrap">{variant}</td>
            <td className="iotide-wrap" colSpan={isFilled ? 4 : 3}>
              <Problem>{t`left out: ${reason}`}</Problem>
            </td>
          </tr>
        ))}
      </ScrollTable>
      <Hint>{rateWords(preview)}</Hint>
    </Stack>
  );
}

function Bytes({ value }: { value: number | null }) {
  return value === null ? t`unknown` : <Quantity unit="bytes" value={value} />;
}

function rateWords({ disk_bytes_per_second: rate, make_seconds_estimated: seconds }: ScratchPreview): string {
  if (rate !== null)
    return t`A disk writes ${formatValue(rate, "bytes_per_second")}, by earlier makes and fills on this set.`;
  return seconds === null
    ? t`How fast these disks write is unknown. The first fill, synchronisation or ext file system on them shows it.`
    : t`No earlier make shows how fast these disks write. These makes write little.`;
}

function madeWords(preview: ScratchPreview, count: number): string {
  const { stages, make_seconds_estimated: seconds, bytes_filled: filled } = preview;
  const rounds = stages.length / Math.max(1, count);
  const variants = count === 1 ? t`1 variant` : t`${count} variants`;
  const often = rounds === 1 ? t`each made once` : t`each made ${rounds} times`;
  const time = seconds === null ? partlyKnown(preview) : t`about ${formatEstimate(seconds)} to make all`;
  const fills = filled === 0 ? "" : t`, ${formatValue(filled, "bytes")} written by fills`;
  return t`${variants}, ${often}, ${time}${fills}. Blocks have 4 KiB.`;
}

function partlyKnown({ stages, make_seconds_known: seconds }: ScratchPreview): string {
  const known = stages.filter((stage) => stage.make_seconds_estimated !== null).length;
  if (known === 0) return t`time to make unknown`;
  return t`about ${formatEstimate(seconds)} for ${known} of ${stages.length} makes, unknown for the others`;
}
