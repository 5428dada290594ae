import { t } from "@lingui/core/macro";
import type { Preview } from "@/api/types";
import { Detail } from "@/components/looks";
import { useDescriber } from "@/components/optionTitles";
import { Section } from "@/components/Page";
import { Place } from "@/components/Place";
import { Row, ScrollTable } from "@/components/ScrollTable";
import { Datum, Quantity } from "@/components/values";
import { formatEstimate } from "@/lib/units";

export function MatrixSection({ preview }: { preview: Preview }) {
  const { cells, cell_count } = preview;
  const describeCell = useDescriber(cells);
  return (
    <Section title={t`Run matrix`}>
      <ScrollTable
        head={[t`Node and target`, t`Workload`, t`Options`, t`Space`, t`Run time`]}
        label={t`Run matrix`}
        maxHeight={520}
      >
        {cells.map((cell) => (
          <Row key={cell.ordinal}>
            <td className="iotide-name">
              <Place of={cell} />
              {cell.sender_name && <Detail>{t`${cell.sender_name} sends`}</Detail>}
              {cell.observer_names.length > 0 && (
                <Detail>{t`monitoring ${cell.observer_names.join(", ")}`}</Detail>
              )}
            </td>
            <td>
              {cell.workload}
              <Program cell={cell} />
            </td>
            <td className="iotide-wrap">{describeCell(cell)}</td>
            <Quantity unit="bytes" value={cell.bytes_needed} />
            <Datum unit="seconds" value={cell.run_seconds_estimated}>
              {cell.run_seconds_estimated === null
                ? t`unknown`
                : t`about ${formatEstimate(cell.run_seconds_estimated)}`}
            </Datum>
          </Row>
        ))}
      </ScrollTable>
      {cells.length < cell_count && (
        <Detail>{t`First ${cells.length} of ${cell_count} configurations.`}</Detail>
      )}
    </Section>
  );
}

interface ProgramProps {
  /** `program` is null or absent if each node starts a program of its own. */
  readonly cell: { readonly ordinal: number; readonly program?: string | null };
}

function Program({ cell: { program } }: ProgramProps) {
  return program && <Detail>{program}</Detail>;
}
