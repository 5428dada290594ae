import { t } from "@lingui/core/macro";
import { Stack } from "@mantine/core";
import type { ReactNode } from "react";
import type { RunDetail, Sample } from "@/api/types";
import { DefinitionRow, Fact } from "@/components/DefinitionRow";
import { useTitlesOf } from "@/components/optionTitles";
import { Section } from "@/components/Page";
import { Row, ScrollTable } from "@/components/ScrollTable";
import { Datum, Quantity } from "@/components/values";
import { describeValues, optionValue, varyingNames } from "@/lib/options";
import { formatFactor } from "@/lib/units";
import { type Program, programOf, type Race } from "./program";

const HEAD = [t`Operation`, t`Slowest node`, t`First rank done`, t`Last rank done`, t`Fairness`];

/** Renders nothing if each node ran a program of its own. */
export function ProgramSection({ run }: { run: RunDetail }) {
  const titleOf = useTitlesOf()(run.workload);
  const program = programOf(run);
  if (!program) return null;
  const { head, members, races } = program;
  const varying = varyingNames(races.map(({ labels }) => labels));
  const nameOf = ({ labels: { operation, ...others } }: Race) =>
    [
      operation === undefined ? "" : optionValue("operation", operation),
      describeValues(
        others,
        titleOf,
        varying.filter((name) => name !== "operation"),
      ),
    ]
      .filter(Boolean)
      .join(", ");
  return (
    <Section description={describeProgram(run.workload, program)} title={t`One program over all nodes`}>
      <Stack gap="sm">
        <DefinitionRow>
          <Fact label={t`Head`}>{head}</Fact>
          <Fact label={t`Members`}>{members.join(", ")}</Fact>
        </DefinitionRow>
        {races.length > 0 && (
          <ScrollTable head={HEAD} label={t`Ranks and nodes`} maxHeight={320}>
            {races.map((race) => (
              <Row key={race.key}>
                {nameOf(race) || t`all`}
                <Slowest race={race} />
                <Measured sample={race.firstDone} />
                <Measured sample={race.lastDone} />
                {race.fairness && (
                  <Datum value={race.fairness.value}>{formatFactor(race.fairness.value)}</Datum>
                )}
              </Row>
            ))}
          </ScrollTable>
        )}
      </Stack>
    </Section>
  );
}

function describeProgram(workload: string, { head, members, tasksPerNode }: Program): string {
  const count = members.length + 1;
  if (tasksPerNode === null) return t`${workload} ran once, on ${count} nodes. ${head} started it.`;
  const tasks = tasksPerNode === 1 ? t`1 task` : t`${tasksPerNode} tasks`;
  return t`${workload} ran once, on ${count} nodes with ${tasks} each. ${head} started it.`;
}

function Slowest({ race: { slowest } }: { race: Race }): ReactNode {
  if (!slowest) return null;
  return (
    <>
      {slowest.node} <Measured sample={slowest.rate} />
    </>
  );
}

function Measured({ sample }: { sample: Sample | undefined }): ReactNode {
  return sample && <Quantity unit={sample.unit} value={sample.value} />;
}
