/** Slices at the selected cell along both sizes, and a table of all values. */

import { t } from "@lingui/core/macro";
import { Trans } from "@lingui/react/macro";
import { Grid, Text } from "@mantine/core";
import type { Surface } from "@/api/types";
import { conditionsOf } from "@/components/conditionsOf";
import { Detail } from "@/components/looks";
import { MeasuredValue } from "@/components/MeasuredValue";
import { MedianRatio } from "@/components/MedianRatio";
import { useScheme } from "@/components/preferences";
import { RunLinks } from "@/components/RunLinks";
import { ScrollTable } from "@/components/ScrollTable";
import { Datum, Quantity } from "@/components/values";
import { exactBytes, formatShift } from "@/lib/units";
import { Plot } from "@/plots/Plot";
import { FILE_SIZE, type PlaceOnSurface, RECORD_SIZE, sliceFigure } from "@/plots/surface";
import { surfaceTable } from "./exports";
import { extent, gapInWords, gapsInWords, sliceGaps, slices } from "./fields";

export function SurfaceSlices({ surface, at }: { surface: Surface; at: PlaceOnSurface }) {
  return (
    <Grid>
      <Grid.Col span={{ base: 12, lg: 6 }}>
        <Slice axis="file" sizeBytes={at.fileSize} surface={surface} />
      </Grid.Col>
      <Grid.Col span={{ base: 12, lg: 6 }}>
        <Slice axis="record" sizeBytes={at.recordSize} surface={surface} />
      </Grid.Col>
    </Grid>
  );
}

interface SliceProps {
  readonly surface: Surface;
  /** The fixed size. */
  readonly axis: "file" | "record";
  readonly sizeBytes: number;
}

function Slice({ surface, axis, sizeBytes }: SliceProps) {
  const scheme = useScheme();
  const { scale } = extent(surface);
  const held =
    axis === "file" ? t`files of ${exactBytes(sizeBytes)}` : t`records of ${exactBytes(sizeBytes)}`;
  const xTitle = axis === "file" ? RECORD_SIZE : FILE_SIZE;
  const figure = sliceFigure(slices(surface, axis, sizeBytes), {
    xTitle,
    title: surface.title,
    scale,
    scheme,
  });
  return (
    <>
      <Text fw={600} size="sm">
        {t`Slice at ${held}`}
      </Text>
      <Plot
        exported={{ table: () => surfaceTable(surface) }}
        figure={figure}
        height={320}
        label={t`${surface.title} at ${held}`}
        viewKey={`slice-${axis}`}
      />
      <Detail>{gapsInWords(sliceGaps(surface, axis, sizeBytes))}</Detail>
    </>
  );
}

export function SurfaceTable({ surface }: { surface: Surface }) {
  const rows = surface.file_sizes_bytes.flatMap((file, row) =>
    surface.record_sizes_bytes.map((record, column) => ({ file, record, row, column })),
  );
  const hasB = surface.b !== null;
  return (
    <ScrollTable
      exported={{ table: () => surfaceTable(surface) }}
      head={[
        FILE_SIZE,
        RECORD_SIZE,
        "A",
        t`Runs of A`,
        ...(hasB ? ["B", t`Runs of B`, "B / A", t`Verdict`] : []),
      ]}
      label={t`Values of the surface`}
      maxHeight={480}
    >
      {rows.map(({ file, record, row, column }) => {
        const difference = surface.differences?.[row]?.[column];
        return (
          <tr key={`${file} ${record}`}>
            <td>
              <Quantity unit="bytes" value={file} />
            </td>
            <td>
              <Quantity unit="bytes" value={record} />
            </td>
            <FieldCells
              cell={surface.a.cells[row]?.[column]}
              gap={gapInWords(surface, surface.a, row, column)}
              unit={surface.unit}
            />
            {surface.b && (
              <>
                <FieldCells
                  cell={surface.b.cells[row]?.[column]}
                  gap={gapInWords(surface, surface.b, row, column)}
                  unit={surface.unit}
                />
                <td>
                  <Ratio difference={difference} />
                </td>
                <td className="iotide-wrap">
                  {difference?.words}
                  {difference && <Detail>{conditionsOf(difference).join("; ")}</Detail>}
                </td>
              </>
            )}
          </tr>
        );
      })}
    </ScrollTable>
  );
}

type FieldDifference = NonNullable<Surface["differences"]>[number][number];

/** Without an interval, the ratio is not shown as a percentage. */
function Ratio({ difference }: { difference: FieldDifference | undefined }) {
  if (!difference) return null;
  if (difference.ratio !== null)
    return <Datum value={difference.ratio}>{formatShift(difference.ratio)}</Datum>;
  return difference.median_ratio !== null && <MedianRatio ratio={difference.median_ratio} />;
}

type FieldCell = Surface["a"]["cells"][number][number];

interface FieldCellsProps {
  readonly cell: FieldCell | undefined;
  readonly unit: Surface["unit"];
  /** Reason for a missing value. */
  readonly gap: string;
}

function FieldCells({ cell, unit, gap }: FieldCellsProps) {
  if (!cell)
    return (
      <>
        <td>{gap || t`none: the record is larger than the file`}</td>
        <td />
      </>
    );
  return (
    <>
      <td>
        <MeasuredValue flags={cell.flags} unit={unit} value={cell.median} />
        {cell.n > 1 && (
          <Detail>
            <Trans>
              <Quantity unit={unit} value={cell.low} /> to <Quantity unit={unit} value={cell.high} />
            </Trans>
          </Detail>
        )}
      </td>
      <td>
        <RunLinks ids={cell.run_ids} />
      </td>
    </>
  );
}
