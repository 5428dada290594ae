/** Who read the raw output again, by which parser, and what the former readings said. */

import { t } from "@lingui/core/macro";
import { useQuery } from "@tanstack/react-query";
import { Fragment, useState } from "react";
import type { Reading, RunDetail } from "@/api/types";
import { Detail, RowButton } from "@/components/looks";
import { useTitlesOf } from "@/components/optionTitles";
import { Loaded, Section } from "@/components/Page";
import { Row, ScrollTable } from "@/components/ScrollTable";
import { Quantity, When } from "@/components/values";
import { describeValues } from "@/lib/options";
import { readingQuery } from "./queries";

const HEAD = [t`Reading`, t`Workload revision`, t`iotide`, t`When`, t`By`, "", ""];

/** Nothing where the node's own reading is the only one. */
export function ReadingsSection({ run }: { run: RunDetail }) {
  // The newest of each order stands first.
  const newest = new Map(run.readings.map(({ order_id, ordinal }) => [order_id, ordinal] as const).reverse());
  if (run.readings.every(({ ordinal }) => ordinal === 1)) return null;
  return (
    <Section
      description={t`The raw output was read again by another parser. The numbers above are of the newest reading.`}
      title={t`Readings`}
    >
      <ScrollTable head={HEAD} label={t`Readings`}>
        {run.readings.map((reading) => (
          <ReadingRows
            counts={newest.get(reading.order_id) === reading.ordinal}
            key={reading.id}
            reading={reading}
            workload={run.workload}
          />
        ))}
      </ScrollTable>
    </Section>
  );
}

interface ReadingRowsProps {
  readonly reading: Reading;
  /** Whether its numbers are those of the run. */
  readonly counts: boolean;
  readonly workload: string;
}

function ReadingRows({ reading, counts, workload }: ReadingRowsProps) {
  const [isOpen, setIsOpen] = useState(false);
  return (
    <Fragment>
      <Row>
        {reading.ordinal}
        {reading.workload_revision}
        {reading.parser_version ?? t`unknown`}
        <When at={reading.read_at} />
        {reading.read_by ?? t`the node`}
        {counts ? t`counts` : t`former`}
        {!counts && (
          <RowButton
            aria-expanded={isOpen}
            aria-label={t`${isOpen ? "Hide" : "Show"} the numbers of reading ${reading.ordinal}`}
            onClick={() => setIsOpen(!isOpen)}
          >
            {isOpen ? t`Hide` : t`Show`}
          </RowButton>
        )}
      </Row>
      {isOpen && (
        <tr>
          <td colSpan={HEAD.length}>
            <FormerNumbers reading={reading} workload={workload} />
          </td>
        </tr>
      )}
    </Fragment>
  );
}

function FormerNumbers({ reading, workload }: { reading: Reading; workload: string }) {
  const detail = useQuery(readingQuery(reading.id));
  const titleOf = useTitlesOf()(workload);
  return (
    <Loaded empty={t`It gave no number.`} isEmpty={({ samples }) => samples.length === 0} query={detail}>
      {({ samples }) => (
        <ScrollTable
          head={[t`Metric`, t`Value`]}
          label={t`Numbers of reading ${reading.ordinal}`}
          maxHeight={320}
        >
          {samples.map((sample) => (
            <Row key={`${sample.metric} ${JSON.stringify(sample.labels)} ${sample.target_id}`}>
              <td className="iotide-name">
                {sample.title}
                <Detail>{describeValues(sample.labels, titleOf)}</Detail>
              </td>
              <Quantity unit={sample.unit} value={sample.value} />
            </Row>
          ))}
        </ScrollTable>
      )}
    </Loaded>
  );
}
