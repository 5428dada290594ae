/** Result of an IO500 run as the IO500 shows it: score, means and phases, and its rank in a published list. */

import { t } from "@lingui/core/macro";
import { Badge, Group, Stack, Text } from "@mantine/core";
import { useMutation, useQuery } from "@tanstack/react-query";
import type { ReactNode } from "react";
import type { Artefact, RunDetail, Sample } from "@/api/types";
import { DefinitionRow, Fact } from "@/components/DefinitionRow";
import { saveBlob } from "@/components/export/save";
import { Hint, RowButton } from "@/components/looks";
import { MeasuredValue } from "@/components/MeasuredValue";
import { Section } from "@/components/Page";
import { Row, ScrollTable } from "@/components/ScrollTable";
import { Datum, Quantity, Seconds } from "@/components/values";
import { tarOf } from "@/lib/tar";
import { formatFactor } from "@/lib/units";
import type { Io500 } from "./io500";
import { flagsOfNumber } from "./numberFlags";
import { PlaceResult } from "./PlaceResult";
import { artefactsQuery, readArtefacts } from "./queries";

interface Io500SectionProps {
  readonly run: RunDetail;
  readonly result: Io500;
  /** All values, folded. */
  readonly metrics: ReactNode;
}

export function Io500Section({ run, result, metrics }: Io500SectionProps) {
  const { score, bandwidth, metadata, phases, reasons } = result;
  return (
    <Section actions={<ResultDirectory run={run} />} title={t`IO500 result`}>
      <Stack gap="sm">
        <DefinitionRow>
          {score && (
            <Fact label={t`Score`}>
              <Group component="span" gap="xs">
                <Datum value={score.value}>{formatFactor(score.value)}</Datum>
                <Badge color={reasons.length > 0 ? "orange" : "green"}>
                  {reasons.length > 0 ? t`invalid` : t`valid`}
                </Badge>
              </Group>
            </Fact>
          )}
          <Mean label={t`Bandwidth (BW)`} sample={bandwidth} />
          <Mean label={t`Metadata (MD)`} sample={metadata} />
        </DefinitionRow>
        {reasons.length > 0 && (
          <div>
            <Text size="sm">{t`By the rules of the IO500 this is no valid result:`}</Text>
            <ul aria-label={t`Why it is invalid`} className="iotide-reasons">
              {reasons.map((reason) => (
                <li key={reason}>{reason}</li>
              ))}
            </ul>
          </div>
        )}
        <ScrollTable head={[t`Phase`, t`Value`, t`Duration`]} label={t`Phases of the IO500`}>
          {phases.map(({ name, rate, seconds, isScored }) => (
            <Row key={name}>
              <td className="iotide-name">
                {name}
                {!isScored && <Hint component="span"> {t`not scored`}</Hint>}
              </td>
              <MeasuredValue {...flagsOfNumber(run, rate)} unit={rate.unit} value={rate.value} />
              {seconds !== null && <Seconds value={seconds} />}
            </Row>
          ))}
        </ScrollTable>
        <PlaceResult result={result} />
        {metrics}
      </Stack>
    </Section>
  );
}

function Mean({ label, sample }: { label: string; sample: Sample | undefined }) {
  if (!sample) return null;
  return (
    <Fact label={label}>
      <Quantity unit={sample.unit} value={sample.value} />
    </Fact>
  );
}

/** Files of the result directory among the raw output, after the number of the step that wrote them. */
const OF_DIRECTORY = /^(\d{3}-)(.+\.(?:txt|csv|ini)|timestampfile)$/;
const RESULT = "result.txt";

/** An archive of the files that a submission to the IO500 needs. */
function ResultDirectory({ run }: { run: RunDetail }) {
  const { data = [] } = useQuery(artefactsQuery(run.id));
  const read = useMutation(readArtefacts);
  const files = directoryOf(run, data);
  if (files.length === 0) return null;
  const name = `io500-run-${run.id}`;
  async function download(): Promise<void> {
    const found = await read.mutateAsync(files).catch(() => []);
    if (found.length === 0) return;
    const own = found.map(({ content, ...file }) => ({ name: `${name}/${nameOf(file.name)}`, content }));
    saveBlob(name, "tar", new Blob([tarOf(own, new Date(run.ended_at ?? run.created_at))]));
  }
  return (
    <RowButton
      loading={read.isPending}
      onClick={() => void download()}
    >{t`Download result directory`}</RowButton>
  );
}

/** Earlier attempts and steps have directories of their own, which must not be mixed with that of the result. */
function directoryOf(run: RunDetail, artefacts: readonly Artefact[]): Artefact[] {
  const orders = run.attempts.at(-1)?.orders.map(({ id }) => id) ?? [];
  const result = artefacts.findLast(
    ({ name, order_id }) => orders.includes(order_id) && nameOf(name) === RESULT && name !== RESULT,
  );
  if (!result) return [];
  const step = stepOf(result.name);
  return artefacts.filter(({ name, order_id }) => order_id === result.order_id && stepOf(name) === step);
}

function stepOf(artefact: string): string | undefined {
  return OF_DIRECTORY.exec(artefact)?.[1];
}

function nameOf(artefact: string): string {
  return OF_DIRECTORY.exec(artefact)?.[2] ?? artefact;
}
