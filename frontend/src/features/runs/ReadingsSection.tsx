import { t } from "@lingui/core/macro";
import { useQuery } from "@tanstack/react-query";
import { Fragment, useState } from "react";
import type { Reading, RunDetail } from "@/api/types";
import { Fold } from "@/components/Fold";
import { Detail, Hint, RowButton } from "@/components/looks";
import { useTitlesOf } from "@/components/optionTitles";
import { Loaded } from "@/components/Page";
import { Row, ScrollTable } from "@/components/ScrollTable";
import { Quantity, When } from "@/components/values";
import { describeValues } from "@/lib/options";
import { readingQuery } from "./queries";

const HEAD = [t`Reading`, t`Workload revision`, t`iotide version`, t`Time`, t`Source`, "", ""];

/** Renders nothing if the raw output was parsed only once. */
export function ReadingsSection({ run }: { run: RunDetail }) {
  // The newest reading of each order comes first.
  const newest = new Map(run.readings.map(({ order_id, ordinal }) => [order_id, ordinal] as const).reverse());
  if (run.readings.every(({ ordinal }) => ordinal === 1)) return null;
  return (
    <Fold title={t`Readings`}>
      <Hint mb="xs">
        {t`The raw output was parsed again by another parser version. The values above come from the newest reading.`}
      </Hint>
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
    </Fold>
  );
}

interface ReadingRowsProps {
  readonly reading: Reading;
  /** Its values are the run's values. */
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
        {reading.read_by ?? t`agent`}
        {counts ? t`current` : t`superseded`}
        {!counts && (
          <RowButton
            aria-expanded={isOpen}
            aria-label={t`${isOpen ? "Hide" : "Show"} values of reading ${reading.ordinal}`}
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
    <Loaded
      empty={t`This reading has no values.`}
      isEmpty={({ samples }) => samples.length === 0}
      query={detail}
    >
      {({ samples }) => (
        <ScrollTable
          head={[t`Metric`, t`Value`]}
          label={t`Values of reading ${reading.ordinal}`}
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
